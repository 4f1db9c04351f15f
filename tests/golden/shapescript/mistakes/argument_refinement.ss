# expect: E0502 @6:14
fn g(x: [n] NonNeg) -> [n]:
    return sqrt(x)

fn f(x: [n]) -> [n]:
    return g(x)
