# expect: E0110 @3:16
fn f(x: [n]) -> [n]:
    return x * * x
