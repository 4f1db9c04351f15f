# expect: E0202 @2:13
fn f(x: [n] NonNeg[3]) -> [n]:
    return x
