fn f(n: int, x: [b]) -> [b]:
    if n:
        return x
    return relu(x)

# says: compare it, as in `n != 0`
