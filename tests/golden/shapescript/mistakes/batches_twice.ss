# expect: E0904 @6:33
data R:
    x: [3]

fn main(d: Dataset[R]):
    for r in d |> batches(4) |> batches(2):
        print(r)
