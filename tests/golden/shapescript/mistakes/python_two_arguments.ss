# expect: E1901 @12:27
devices cuda[0 1]

import python augment

data Digit:
    img: [4]
    y: []

fn go(rows: Dataset[Digit]):
    for batch in rows |> batches(8):
        n = augment.count(batch.img, batch.y) as int
        print(n)
