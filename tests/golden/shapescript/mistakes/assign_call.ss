# expect: E0114 @3:5
fn f(x: [n]) -> [n]:
    x[0] = x[1]
    return x
