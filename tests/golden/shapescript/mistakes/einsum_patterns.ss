# expect: E0411 @3:25
fn f(x: [n d], y: [d]) -> [n]:
    return einsum(x, y: n d -> n)
