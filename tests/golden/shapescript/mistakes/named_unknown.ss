# expect: E0602 @3:23
fn f(x: [n]) -> [n]:
    return softmax(x, axis=n)
