# expect: E0503 @3:20
fn f(i: [n] i64) -> [n]:
    return softmax(i, over=n)
