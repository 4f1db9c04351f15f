# expect: E0406 @3:30
fn f(x: [n d], y: [d]) -> [n]:
    return einsum(x, y: n d, d e -> n)
