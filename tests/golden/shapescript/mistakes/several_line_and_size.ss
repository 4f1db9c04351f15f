# expect: E0110 @3:12; E0401 @6:16
fn f(x: [n]) -> [n]:
    y = x +
    return y
fn h(x: [n 3], y: [n 4]) -> [n 3]:
    return x + y
