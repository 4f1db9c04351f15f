# expect: E0404 @4:12
# The two `k` are different sizes: the axis of the result, and the parameter.
fn f(x: [b n], k: int) -> [b n k]:
    return repeat(x: b n -> b n k, k=k)
