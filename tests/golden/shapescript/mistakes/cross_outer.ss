# expect: E1902 @8:16
devices cuda[0 1]
dim D = 3
data R:
    x: [D]
fn h(r: [b] R) -> []:
    s = r.x[D=0]
    return sum(outer(s, s))
