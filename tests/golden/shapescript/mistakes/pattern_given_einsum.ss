# expect: E0602 @3:32
fn f(x: [b n], k: int) -> [b]:
    return einsum(x: b n -> b, over=k)
