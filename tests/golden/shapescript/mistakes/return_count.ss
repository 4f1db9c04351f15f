# expect: E0404 @3:12
fn f(x: [n]) -> ([n], [n]):
    return x
