# expect: E0110 @2:14
fn f(x: [n] y: [n]) -> [n]:
    return x
