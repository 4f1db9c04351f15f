# expect: E0502 @3:12
fn f(x: [n]) -> [n] NonNeg:
    return relu(x) * -2.0
