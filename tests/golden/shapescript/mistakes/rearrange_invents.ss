# expect: E0407 @3:38
fn f(x: [b d]) -> [b d]:
    return x |> rearrange(b d -> b d e)
