# expect: E0205 @2:18
fn f(x: [n]) -> [N]:
    return x
