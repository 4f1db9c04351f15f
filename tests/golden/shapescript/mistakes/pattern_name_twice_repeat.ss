# expect: E0414 @3:26
fn f(x: [b n n]) -> [b n 2]:
    return repeat(x: b n n -> b n k, k=2)
