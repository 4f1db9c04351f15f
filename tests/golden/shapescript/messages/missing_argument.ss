fn g(x: [n], k: int) -> [n]:
    return x * k

fn f(x: [n]) -> [n]:
    return g(x)

# says: `k` is declared `int`
