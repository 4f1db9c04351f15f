# expect: E0201 @4:13
fn f(x: [n]) -> [n]:
    for _i in 0..3:
        y = y * 2.0
    return y
