# expect: E0417 @5:5
fn g(x: [n]) -> ([n], [n]):
    return x, x
fn f(x: [n]) -> [n]:
    y = g(x)
    return y
