# expect: ok
devices cpu

fn total(x: [n], k: int) -> []:
    sum_of = zeros[]
    for _i in 0..k:
        sum_of += mean(x)
    return sum_of

fn flat(x: [n]) -> [n]:
    return x * full[](0.5) + ones[]
