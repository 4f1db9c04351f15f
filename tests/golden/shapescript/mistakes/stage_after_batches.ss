# expect: E0904 @15:33
dim A = 2

model M:
    param w: [A] = zeros()

data R:
    x: [A]
    t: [] Index[A]

fn c(m: M, r: [b] R) -> [] NonNeg:
    return mean(square(r.x @ m.w))

fn g(d: Dataset[R]):
    for r in d |> batches(4) |> take(2):
        print(1)
