# expect: E1003 @13:13
data R:
    x: [3]

fn cost(r: [b] R) -> []:
    return mean(r.x)

fn main(d: Dataset[R]):
    best = inf
    for r in d |> batches(8):
        l = cost(r)
        if float(l) < best:
            best = l
    print(best)
