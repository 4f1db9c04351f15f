# expect: E0418 @3:39
fn f(x: [b n]) -> [n b]:
    return rearrange(x: b n -> n b, b=3)
