# expect: E0503 @3:14
fn f(x: [n] bool) -> [n]:
    return x + x
