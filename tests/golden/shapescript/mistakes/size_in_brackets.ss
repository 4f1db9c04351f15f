# expect: E0302 @2:10
fn f(x: [(a+b)*(c-c)]) -> []:
    return 1.0
