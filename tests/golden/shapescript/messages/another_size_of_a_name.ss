fn f(x: [a c], y: [d e]) -> ([a c], [d a]):
    u = rearrange(x: k c -> k c)
    v = rearrange(y: d k -> d k)
    return u, v

# says: `y` is `[d e]`
