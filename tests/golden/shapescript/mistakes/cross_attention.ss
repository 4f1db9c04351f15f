# expect: E1902 @7:16
devices cuda[0 1]
dim D = 3
data R:
    x: [D]
fn h(r: [b] R) -> []:
    return sum(attention(r.x, r.x, r.x))
