# expect: E0416 @3:14
fn f(x: [3]) -> []:
    return x[last(4)]
