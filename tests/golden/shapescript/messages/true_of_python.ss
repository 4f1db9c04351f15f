fn f(x: [n]) -> [n]:
    if True:
        return x
    return relu(x)

# says: here it is `true`
