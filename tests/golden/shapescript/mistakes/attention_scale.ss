# expect: E0403 @3:37
fn f(q: [t d], k: [s d], v: [s e]) -> [t e]:
    return attention(q, k, v, scale="a")
