fn g(x: [n], k: int) -> [n]:
    return x * k

fn f(x: [n]) -> [n]:
    return g(x, 2, 3)

# says: `g` is declared here
# says: `g` takes `x` and `k`
