# expect: E0603 @3:12
fn f(x: [n]) -> [n]:
    return pad(x)
