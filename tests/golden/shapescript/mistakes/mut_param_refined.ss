# expect: E0502 @11:15
dim D = 4

model M:
    param w: [D] NonNeg = zeros()

fn lower(mut x: [D]):
    x = x - 5.0

fn f(mut m: M):
    lower(mut m.w)
