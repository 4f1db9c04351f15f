# expect: E0701 @20:19
dim D = 3

model Lin:
    param w: [D] = zeros()

model Net:
    layer a: Lin
    layer parts: 3 * Lin

fn halve(mut l: Lin):
    l.w = l.w * 0.5

fn blend(mut l: Lin, r: Lin):
    l.w = l.w + r.w

fn f(mut n: Lin, m: Lin):
    p = n
    for _i in 0..3:
        halve(mut p)
        p = m
