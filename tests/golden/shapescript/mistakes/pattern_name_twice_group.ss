# expect: E0414 @5:28
dim N = 4

fn f(x: [b 16]) -> [b N]:
    return x |> split(b (N N) -> b N)
