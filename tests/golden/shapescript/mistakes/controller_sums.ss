# expect: E1003 @13:9
data R:
    x: [3]

fn cost(r: [b] R) -> []:
    return mean(r.x)

fn main(d: Dataset[R]):
    total = 0.0
    for r in d |> batches(8):
        if total > 10.0:
            break
        total += cost(r)
    print(total)
