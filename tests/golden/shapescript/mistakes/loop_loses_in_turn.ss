# expect: E0502 @9:12
fn f(x: [n], k: int) -> [n] NonNeg:
    a = relu(x)
    b = relu(x)
    for _i in 0..k:
        t = a
        a = b
        b = t - 1.0
    return a
