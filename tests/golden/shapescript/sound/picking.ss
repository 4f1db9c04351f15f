# expect: ok
fn masked(q: [b h n d], k: [b h m d], v: [b h m e], pairs: [n m] bool, each: [b h n m] bool) -> [b h n e]:
    return attention(q, k, v, mask=pairs) + attention(q, k, v, mask=each)

fn counts(x: [n d], i: [k] Index[n], v: [k d]) -> [n d]:
    return scatter_add(x, i, v, over=n)

fn cells(x: [n d], i: [k d] Index[n], v: [k d]) -> [n d]:
    return scatter_add(x, i, v, over=n)

fn taken(x: [b n], i: [b k] Index[n]) -> [b k]:
    return gather(x, i, over=n)

fn one_each(q: [b t a], i: [b t] Index[a]) -> [b t]:
    return gather(q, i, over=a)
