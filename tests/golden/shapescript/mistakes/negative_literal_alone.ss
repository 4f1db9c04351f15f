# expect: E0502 @3:12
fn f() -> [] Unit:
    return -0.5
