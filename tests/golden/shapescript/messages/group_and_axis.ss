fn f(x: [b 24], y: [b n]) -> [b 4 5]:
    return rearrange(x: b (4 5) -> b 4 5)

# says: the group is 20, but the axis is 24
# says: `x` is `[b 24]`
