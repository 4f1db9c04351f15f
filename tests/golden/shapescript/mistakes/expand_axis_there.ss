# expect: E0414 @3:22
fn f(x: [n]) -> [3 n]:
    return expand(x, n=3)
