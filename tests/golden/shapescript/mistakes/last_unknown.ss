# expect: E0602 @6:54
data R:
    x: [3]

fn main(d: Dataset[R]):
    for r in d |> shuffle(seed=0) |> batches(4, last="padd"):
        print(r)
