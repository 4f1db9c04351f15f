# expect: E0701 @18:15
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

fn f(n: Lin):
    halve(mut n)
    halve(mut n)

fn g(mut n: Lin):
    f(mut n)

fn main():
    n = Lin(seed=0)
    g(mut n)
    f(mut n)
