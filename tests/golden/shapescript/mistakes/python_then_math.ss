# expect: E1901 @12:22
devices cuda[0 1 2]

import python augment

dim D = 784

data Digit:
    img: [D]

fn prepared(batch: [b] Digit) -> [b D]:
    x = augment.blur(batch.img) as [b D]
    return x * 0.5
