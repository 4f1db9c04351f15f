# expect: E1801 @13:12
devices cpu[0 1]

import python augment

data Row:
    x: [4]

model Fit:
    param w: [4] = zeros()

fn prepared(x: [b 4]) -> [b 4]:
    return augment.blur(x) as [b 4]

fn cost(m: Fit, r: [b] Row) -> [] NonNeg:
    return mean(square(prepared(r.x) @ m.w))

fn slope(m: Fit, r: [b] Row) -> Grad[Fit]:
    return grad(cost, m, r)
