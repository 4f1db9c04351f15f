# expect: E0506 @3:12
fn f(x: [n]) -> [n] bool:
    return x > 0.0 and x < 1.0
