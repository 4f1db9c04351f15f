# expect: E0602 @3:41
fn f(x: [b 12]) -> [b 3 4]:
    return x |> split(b (3 e) -> b 3 e, q=3)
