# expect: E0502 @6:12
fn f(x: [n], k: int) -> [n] NonNeg:
    y = relu(x)
    for _i in 0..k:
        y = y - 1.0
    return y
