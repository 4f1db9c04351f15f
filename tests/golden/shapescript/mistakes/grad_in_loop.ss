# expect: E1803 @19:16
devices cuda[0 1 2]

dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn train(mut m: M, d: Dataset[R]):
    o = sgd(m, lr=0.1)
    for r in d |> batches(4):
        l, g = value_and_grad(c, m, r)
        update(mut m, mut o, g)
        print(l)
