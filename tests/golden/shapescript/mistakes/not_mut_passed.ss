# expect: E0701 @16:16
dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn g(m: M, mut o: Sgd[M], r: [b] R):
    g = grad(c, m, r)
    update(mut m, mut o, g)
