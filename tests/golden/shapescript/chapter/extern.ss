devices cuda[0 1 2]

dim D = 784

data Digit:
    img: [D]

extern fn random_crop(img: [b D]) -> [b D] = "augment.random_crop"

fn cropped(batch: [b] Digit) -> [b D]:
    return random_crop(batch.img)
