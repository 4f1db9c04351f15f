# expect: E0414 @3:28
fn f(x: [b n]) -> [b]:
    return sum(x, over=(n, n))
