# expect: E1902 @8:27; E1902 @9:26
devices cuda[0 1]

data Row:
    x: [4]

fn f(r: [b] Row) -> [b 4]:
    p = softmax(r.x, over=b)
    q = cumsum(r.x, over=b)
    return p + q
