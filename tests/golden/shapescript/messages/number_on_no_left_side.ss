fn f(x: [b n]) -> [b 2 n]:
    return rearrange(x: b n -> b 2 n)

# says: `2` is in no pattern on the left
