# expect: E0416 @3:19
fn f(x: [n]) -> []:
    return x[last(0)]
