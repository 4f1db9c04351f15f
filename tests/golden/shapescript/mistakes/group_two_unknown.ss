# expect: E0410 @3:29
fn f(x: [b 12]) -> [b 12]:
    return x |> rearrange(b (p q) -> b (q p))
