# expect: E0101 @3:11
fn f(x: [n]) -> [n]:
    y = x \
        + 1.0
    return y
