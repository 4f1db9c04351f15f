# expect: E1902 @17:28
devices cpu[0 1]

dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn h(x: [n k]) -> [n k]:
    return softmax(x, over=n)

fn g(r: [b] R) -> [b A]:
    return h(r.x)
