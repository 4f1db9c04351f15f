# expect: E0205 @3:29
fn f(x: [b d]) -> [b d]:
    return x |> rearrange(b Q -> b Q)
