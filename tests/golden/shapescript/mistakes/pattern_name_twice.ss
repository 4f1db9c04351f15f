# expect: E0414 @3:29
fn f(x: [b n n]) -> [b n]:
    return rearrange(x: b n n -> b n)
