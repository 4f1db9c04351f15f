# expect: E0403 @3:21
fn f(x: [n]) -> [n]:
    return pad(x, n=(-1, 0))
