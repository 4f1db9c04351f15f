# expect: E0603 @3:16
fn f(x: [n]) -> [n]:
    return x + zeros()
