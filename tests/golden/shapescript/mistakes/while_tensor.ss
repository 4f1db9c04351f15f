# expect: E0506 @3:11
fn f(x: []) -> []:
    while x > 0.0:
        x = x - 1.0
    return x
