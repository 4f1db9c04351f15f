# expect: E0503 @3:16
fn f(i: [n] i32) -> [n]:
    return exp(i)
