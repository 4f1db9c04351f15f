# expect: E0601 @3:17
fn f(x: [n d], h: [d]) -> [d]:
    return scan(relu, h, x, over=n)
