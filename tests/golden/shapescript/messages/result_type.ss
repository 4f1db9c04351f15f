fn pair(x: [n d]) -> ([n], [d]):
    return sum(x, over=d), x

# says: expected `[d]` because of this result type
