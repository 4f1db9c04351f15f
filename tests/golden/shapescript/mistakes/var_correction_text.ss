# expect: E0403 @3:38
fn f(x: [b n]) -> [b]:
    return var(x, over=n, correction="a")
