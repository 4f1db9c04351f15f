# expect: ok
# What every round of a loop keeps is known after it.
devices cpu

dim C = 4

fn doubled(x: [n]) -> [n] NonNeg:
    y = relu(x)
    for _i in 0..3:
        y = y * 2.0
    return y

fn sharpened(x: [n]) -> [n] Prob[n]:
    p = softmax(x, over=n)
    i = 0
    while i < 3:
        p = softmax(p * 2.0, over=n)
        i += 1
    return p

# Pos and NonNeg in turn are NonNeg.
fn weaker(x: [n]) -> [n] NonNeg:
    y = exp(x)
    for i in 0..3:
        if i == 2:
            continue
        y = y * square(x)
    return y

fn nested(x: [n]) -> [n] Pos:
    y = exp(x)
    for _i in 0..3:
        for _j in 0..3:
            y = y + y
        if C > 8:
            break
    return y

fn last_class(x: [b C]) -> [b] Index[C]:
    best = argmax(x, over=C)
    for _i in 0..3:
        best = argmax(x * 2.0, over=C)
    return best

# A host number becomes the tensor that is added to it.
fn total(x: [n]) -> [] NonNeg:
    sum_of = 0.0
    for _i in 0..3:
        sum_of += mean(square(x))
    return sum_of

fn chosen(x: [n]) -> [] NonNeg:
    if C > 8:
        y = 0.0
    else:
        y = mean(square(x))
    return y

# No round may leave the number as it was before: then it is the tensor of it.
fn perhaps(x: [n]) -> [n]:
    y = 1.0
    for i in 0..C:
        if i > 8:
            y = mean(x)
    return x * exp(y)

# A function that changes a tensor changes it for its caller.
fn bump(mut x: [n], by: float):
    x = x + by

fn bumped(x: [n]) -> [n]:
    y = relu(x)
    bump(mut y, 1.0)
    bump(mut y, -2.0)
    return y

fn reset(x: [n]) -> [n]:
    y = 0
    for i in 0..3:
        if i == 3:
            y = 0
        y = y + sum(x)
    return x * y
