# expect: E0201 @4:12
fn f(x: [n]) -> [n]:
    y = x
    return rellu(y)[..8]
