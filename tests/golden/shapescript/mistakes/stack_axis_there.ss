# expect: E0414 @3:28
fn f(x: [n], y: [n]) -> [n]:
    return stack(x, y, new=n) |> sum(over=n)
