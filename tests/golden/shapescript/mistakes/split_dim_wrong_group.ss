# expect: E0409 @3:25
fn f(x: [b 10]) -> [b 3 3]:
    return x |> split(b (h k) -> b h k, h=3)
