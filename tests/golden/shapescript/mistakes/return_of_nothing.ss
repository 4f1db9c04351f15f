# expect: E0404 @3:12
fn f(x: [n]):
    return x
