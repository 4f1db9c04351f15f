# expect: ok
# A quotient of dims is a size where a pattern's axis is given one.
dim D = 12
dim H = 3

fn heads(x: [b D]) -> [b H D/H]:
    return x |> rearrange(b (H e) -> b H e, e=D/H)

fn copies(x: [b D]) -> [b D 4]:
    return repeat(x: b d -> b d k, k=D/H)
