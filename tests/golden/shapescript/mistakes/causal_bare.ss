# expect: E0603 @3:27
fn f(x: [n n]) -> [n n]:
    return masked_fill(x, causal, 0.0)
