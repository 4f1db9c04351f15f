# expect: E0205 @2:12
fn f(x: [b Wid], y: [b Wid]) -> [b Wid]:
    return x + y
fn g(x: [Wid]) -> [Wid]:
    return x
