# expect: E0302 @5:22
fn front(x: [n]) -> [n-3]:
    return x[0..n-3] |> rearrange(k -> k)
fn f(x: [2]) -> []:
    return sum(front(x))
