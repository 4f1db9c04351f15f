# expect: E0701 @18:5; E0701 @21:15
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

fn inner(n: Lin):
    n.w = n.w * 2.0

fn outer(n: Lin):
    inner(mut n)

fn main():
    n = Lin(seed=0)
    outer(mut n)
