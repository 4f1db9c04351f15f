# expect: E0403 @3:35
fn f(x: [b n]) -> [b]:
    return reduce(x: b n -> b, by=3)
