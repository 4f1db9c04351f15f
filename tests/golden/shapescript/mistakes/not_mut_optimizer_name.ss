# expect: E0701 @13:23
dim D = 3

model Lin:
    param w: [D] = zeros()

fn cost(m: Lin, x: [b D]) -> []:
    return sum(x @ m.w)

fn step(mut m: Lin, o: AdamW[Lin], x: [b D]):
    g = grad(cost, m, x)
    o2 = o
    update(mut m, mut o2, g)
