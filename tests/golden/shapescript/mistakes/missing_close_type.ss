# expect: E0112 @2:9
fn f(x: [n) -> [n]:
    return x
