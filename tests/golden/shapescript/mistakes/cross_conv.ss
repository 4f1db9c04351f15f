# expect: E1902 @7:71
devices cuda[0 1]
dim D = 3
data R:
    x: [D]
fn h(r: [b] R) -> []:
    return sum(conv1d(rearrange(r.x: b d -> 1 d b), ones[2 D 3], over=b))
