devices cuda[0 1 2]

dim D = 784

data Digit:
    img: [D]

import python augment

fn augmented(batch: [b] Digit) -> [b D]:
    return augment.random_crop(batch.img) as [b D]
