# expect: E0301 @5:29
fn heads(x: [t d]) -> []:
    return x |> rearrange(t (h e) -> h t e, h=4) |> sum
fn f(x: [t 10], y: [t 12]) -> []:
    return heads(y) + heads(x)
