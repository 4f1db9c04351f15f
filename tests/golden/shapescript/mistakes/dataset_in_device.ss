# expect: E1804 @14:6
dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn g(d: Dataset[R], x: [n]) -> [n]:
    return x * 2.0
