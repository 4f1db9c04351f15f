# expect: E0110 @2:6
fn f(for: [n]) -> [n]:
    return x
