# expect: E0204 @6:18
model M:
    param weight: [3] = zeros()

fn f(m: M, x: [b 3]) -> [b]:
    return x @ m.wigth

fn g(m: M) -> []:
    return sum(m.wigth)
