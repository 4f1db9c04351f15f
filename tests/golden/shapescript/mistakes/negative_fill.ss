# expect: E0502 @3:12
fn f(x: [n] NonNeg, k: [n] bool) -> [n] NonNeg:
    return masked_fill(x, k, -1.0)
