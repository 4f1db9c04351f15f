# expect: E0702 @18:7
dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn h(mut m: M, w: [A]):
    m.w = w

fn g(mut m: M, w: [A]):
    h(m, w)
