# expect: E0506 @4:17
fn f(x: []) -> []:
    y = x
    for i in 0..x:
        y = y + 1.0
    return y
