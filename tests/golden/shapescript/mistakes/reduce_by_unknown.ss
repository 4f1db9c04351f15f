# expect: E0602 @3:35
fn f(x: [b n]) -> [b]:
    return reduce(x: b n -> b, by="median")
