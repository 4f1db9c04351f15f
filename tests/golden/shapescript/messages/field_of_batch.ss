data Digit:
    img: [P]

dim P = 4

fn f(d: [b] Digit) -> [P]:
    return d.img

# says: `img` is `[P]` in each of the `[b]` records
# says: expected `[P]` because of this result type
