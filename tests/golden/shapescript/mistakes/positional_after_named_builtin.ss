# expect: E0604 @3:35
fn f(x: [n], m: [n] bool) -> [n]:
    return masked_fill(x, mask=m, 0.0)
