# expect: E0402 @7:20; E0403 @10:26
dim D = 3
model M:
    param w: [D] = zeros()

fn cost(m: M, x: [b], y: [b]) -> [] NonNeg:
    return mse(x @ m.w, y)

fn slope(m: M, x: [b D], y: [b]) -> Grad[M]:
    return grad(cost, m, x, y)
