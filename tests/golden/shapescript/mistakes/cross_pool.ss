# expect: E1902 @7:35
devices cuda[0 1]
dim D = 3
data R:
    x: [D]
fn h(r: [b] R) -> []:
    return sum(max_pool(r.x, over=b, size=2, stride=1))
