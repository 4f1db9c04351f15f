# expect: E0204 @13:14
dim D = 4

model M:
    param w: [D] = zeros()
    buffer n: [D] = zeros()

fn cost(m: M, x: [D]) -> []:
    return sum(m.w * x)

fn f(m: M, x: [D]) -> [D]:
    g = grad(cost, m, x)
    return g.n
