# expect: E0209 @3:9
fn f(x: [n]) -> [n]:
    z = y
    y = x
    return z + y
