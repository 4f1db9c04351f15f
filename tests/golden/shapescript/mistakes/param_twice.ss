# expect: E0203 @2:14
fn f(x: [n], x: [n]) -> [n]:
    return x
