# expect: E0114 @3:8
fn f(x: [n]) -> [n]:
    a, (b) = x, x
    return a + b
