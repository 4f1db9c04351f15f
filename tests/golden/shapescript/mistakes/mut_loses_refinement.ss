# expect: E0502 @8:12
fn lower(mut x: [n]):
    x = x - 5.0

fn f(x: [n]) -> [n] NonNeg:
    y = relu(x)
    lower(mut y)
    return y
