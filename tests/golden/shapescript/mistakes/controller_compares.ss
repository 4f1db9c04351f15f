# expect: E0506 @11:12
data R:
    x: [3]

fn cost(r: [b] R) -> []:
    return mean(r.x)

fn main(d: Dataset[R]):
    for r in d |> batches(8):
        l = cost(r)
        if l < 0.1:
            break
        print(l)
