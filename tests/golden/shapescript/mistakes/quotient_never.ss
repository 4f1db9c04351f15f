# expect: E0301 @2:22
fn f(x: [n]) -> [n+1 (4*n+2)/4]:
    return zeros[n+1 n]
