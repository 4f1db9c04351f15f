# expect: E0413 @3:36
fn f(q: [b n d], k: [b m d], v: [b m e], s: [n p] bool) -> [b n e]:
    return attention(q, k, v, mask=s)
