data Digit:
    img: [4]
    label: [] Index[3]

fn f(batch: [b] Digit) -> [b 4]:
    return batch.image

# says: `Digit` is declared here
# says: `Digit` has `img` and `label`
