# expect: E0502 @4:12
fn f(x: [n] NonNeg) -> [n] NonNeg:
    k = -3.0
    return x * k
