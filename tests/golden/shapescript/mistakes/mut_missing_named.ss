# expect: E0702 @11:9
dim D = 4

model M:
    param w: [D] = zeros()

fn g(mut m: M, x: [D]):
    m.w = x

fn f(mut m: M, x: [D]):
    g(m=m, x=x)
