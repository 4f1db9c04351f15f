# expect: E0509 @3:17
fn f(x: [n]) -> [n]:
    return x |> x
