# expect: E0703 @18:14
dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn h(mut m: M, n: M):
    m.w = n.w

fn g(mut m: M):
    h(mut m, m)
