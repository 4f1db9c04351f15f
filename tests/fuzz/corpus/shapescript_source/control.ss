# expect: ok
devices cpu

fn fact(n: int) -> int:
    if n < 2:
        return 1
    else:
        return n * fact(n - 1)

fn classify(k: int) -> str:
    if k == 0:
        name = "zero"
    elif k < 3:
        name = "few"
    else:
        name = "many"
    return name

fn repeat_it(x: [n], times: int) -> [n]:
    y = x
    for i in 0..times:
        if i % 2 == 0:
            y = relu(y)
        else:
            y = y * 2.0
    return y

fn main(n: int = 3, rate: float = 0.1, name: str = "x", flag: bool = false):
    total = 0.0
    i = 0
    while i < n and not flag:
        i += 1
        if i == 2:
            continue
        total += rate * i
    print(total, fact(5), classify(2), str(n) + name)
    print(repeat_it([1.0, -2.0], 3), int("3") + int(2.5), float(3))
    for j in range(3):
        print(j)
    assert(n > 0, "n must be positive")
    t = time()
    print(t)
    while true:
        q = 3
        break
    print(q)
