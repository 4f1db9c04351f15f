# expect: E0201 @3:12
fn f(x: [n]) -> [n]:
    return rleu(x)
