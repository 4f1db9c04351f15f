# expect: E0414 @3:28
fn f(x: [b n]) -> [b n]:
    return transpose(x, b, b)
