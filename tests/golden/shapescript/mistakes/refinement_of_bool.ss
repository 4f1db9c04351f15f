# expect: E0202 @2:18
fn f(x: [n] bool Unit) -> [n]:
    return zeros[n]
