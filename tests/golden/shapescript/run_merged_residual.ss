# expect: ok
devices cpu

dim W = 4
dim H = 2
dim E = W / H

fn residual(x: [b W], y: [b H E], c: [2*E]) -> [b W]:
    return x + rearrange(y: b H E -> b (H E)) * c

fn shift_sum(x: [n+1], y: [n]) -> [n]:
    return x[1..] + y

fn main():
    print(residual([[1.0, 2.0, 3.0, 4.0]], [[[10.0, 20.0], [30.0, 40.0]]], [1.0, 0.0, 2.0, 0.5]))
    print(shift_sum([1.0, 2.0, 3.0], [10.0, 20.0]))
