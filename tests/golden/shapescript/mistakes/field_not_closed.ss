# expect: E0112 @6:8
dim D = 4
dim E = 2

data R:
    x: [D
    y: []

model M:
    param w: [D E] = zeros()

fn f(m: M, r: [b] R) -> [b E]:
    return r.x @ m.w
