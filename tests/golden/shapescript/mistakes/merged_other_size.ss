# expect: E0401 @7:16
dim W = 12
dim H = 3
dim E = 5

fn f(x: [b t W], y: [b t H E]) -> [b t W]:
    return x + rearrange(y: b t H E -> b t (H E))
