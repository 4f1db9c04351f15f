# expect: E1902 @7:55
devices cuda[0 1]
data R:
    x: [4 3]
fn f(r: [b] R) -> []:
    y = merge(r.x: b t d -> (b t) d)
    return sum(softmax(rearrange(y: n d -> n d), over=n))
