# expect: E0403 @3:31
fn f(x: [n]) -> [n]:
    return shift(x, n=1, fill="a")
