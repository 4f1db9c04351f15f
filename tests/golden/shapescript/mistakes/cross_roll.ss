# expect: E1902 @17:27
devices cpu[0 1]

dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn g(r: [b] R) -> [b A]:
    return roll(r.x, over=b, by=1)
