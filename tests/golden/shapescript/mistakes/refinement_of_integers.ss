# expect: E0202 @2:17
fn f(x: [n] i64 NonNeg) -> [n] i64:
    return x
