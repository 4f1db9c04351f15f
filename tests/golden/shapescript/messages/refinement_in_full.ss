fn f(x: [n]) -> [n] NonNegative:
    return relu(x)

# says: here it is `NonNeg`
