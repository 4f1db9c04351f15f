# expect: E0415 @3:22
fn f(x: [n 2], y: [n 3]) -> [n 5]:
    return concat(x, y, along=n)
