# expect: E0703 @18:27
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

fn f(mut n: Net):
    blend(mut n.parts[0], n.parts[0])
