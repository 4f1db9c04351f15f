# expect: E0413 @3:7
fn f(x: [n], y: [m]) -> [n]:
    x += y
    return x
