# expect: E0403 @6:23
data R:
    x: [3]

fn main(d: Dataset[R]):
    for r in d |> map(relu) |> batches(2):
        print("a")
