# expect: E0202 @2:20
fn f(x: [n] NonNeg f32) -> [n]:
    return x
