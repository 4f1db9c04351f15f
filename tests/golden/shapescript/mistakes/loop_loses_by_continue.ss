# expect: E0502 @10:12
fn f(x: [n], k: int) -> [n] NonNeg:
    y = relu(x)
    z = relu(x)
    for i in 0..k:
        y = z
        if i == 2:
            z = x
            continue
    return y
