# expect: E0502 @11:12
fn lower(mut x: [n]):
    x = x - 5.0

fn f(x: [n]) -> [n] NonNeg:
    y = relu(x)
    z = relu(x)
    for _i in 0..3:
        z = y
        lower(mut y)
    return z
