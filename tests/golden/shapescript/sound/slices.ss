# expect: ok
# `map` and `scan` take what a slice is of: a tensor or a batch of records, by own or built-in functions.
devices cpu

data R:
    x: [3]
    y: []

fn one(r: R) -> []:
    return sum(r.x) * r.y

fn each(rs: [b] R) -> [b]:
    return map(one, rs, over=b)

fn positive(x: [b n]) -> [b n]:
    return map(relu, x, over=b)

fn largest(x: [b n], start: [n]) -> [n]:
    return scan(maximum, start, x, over=b)

fn single() -> ([3]):
    return zeros[3]

fn diagonal_out(x: [n n]) -> [n n]:
    return masked_fill(x, eye[n n], 0.0)

fn diagonal_in(x: [n n]) -> [n n]:
    return x + (eye[n n] as f32)
