# expect: E1804 @10:17
devices cpu

data Row:
    x: [4]

model Fit:
    param w: [4] = zeros()

fn cost(m: Fit, rows: Dataset[Row]) -> [] NonNeg:
    return mean(square(m.w))

fn step(mut m: Fit, mut o: AdamW[Fit], rows: Dataset[Row]) -> [] NonNeg:
    l, g = value_and_grad(cost, m, rows)
    update(mut m, mut o, g)
    return l
