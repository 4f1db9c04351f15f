# expect: E1801 @15:5
dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn h(m: M) -> []:
    save(m, "x")
    return sum(m.w)

fn g(m: M) -> []:
    l, q = value_and_grad(h, m)
    return l
