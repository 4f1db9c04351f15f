# expect: E0101 @3:14
fn f(x: [n]) -> [n]:
    return x ¤ 2.0
