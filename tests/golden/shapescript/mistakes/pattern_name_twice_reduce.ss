# expect: E0414 @3:26
fn f(x: [b n n]) -> [b]:
    return reduce(x: b n n -> b, by="sum")
