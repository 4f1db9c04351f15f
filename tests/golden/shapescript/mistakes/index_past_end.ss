# expect: E0416 @3:14
fn f(x: [3 d]) -> [d]:
    return x[5]
