# expect: E0403 @3:27
fn f(x: [n]) -> [n]:
    return gelu(x, approx=1)
