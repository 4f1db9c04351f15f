# expect: E0103 @4:2
fn f(x: [n]) -> [n]:
    return x
 fn g(x: [n]) -> [n]:
    return x
