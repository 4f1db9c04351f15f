fn add(x: [n m], y: [n m]) -> [n m]:
    return x + y

fn f(a: [p q], c: [q p]) -> [p q]:
    return add(a, c)

# says: `y` of `add` is `[p q]`, but this is `[q p]`
# says: `n` is `p` and `m` is `q` here
