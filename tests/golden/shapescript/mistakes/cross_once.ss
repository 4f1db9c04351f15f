# expect: E1902 @10:31
devices cuda[0 1]

dim D = 8

data Row:
    x: [D]

fn f(r: [b] Row) -> [b D]:
    s = einsum(r.x, r.x: b D, k D -> b k) / 3.0
    p = softmax(s, over=k)
    return einsum(p, r.x: b k, k D -> b D)
