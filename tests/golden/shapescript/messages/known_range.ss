fn f(x: [n]) -> [n] Unit:
    return relu(x)

# says: the result of `f` is `[n] Unit`, but this is only known to be `[n] NonNeg`
# says: expected `[n] Unit` because of this result type
