# expect: E0502 @3:12
fn f() -> [2] NonNeg:
    return neg([1.0, 2.0])
