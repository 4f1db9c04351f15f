# expect: ok
devices cpu[0 1]

dim P = 3
dim K = 4

data Row:
    x: [P]
    y: [] Index[K]

import python mod
import python pkg.sub as sub

fn total(r: [b] Row) -> []:
    return sum(r.x) + mean(r.x) + sum(max(r.x, over=b))

fn scaled(r: Row) -> [P]:
    return r.x * 2.0

fn cross(r: [b] Row) -> [P P]:
    return einsum(r.x, r.x: b P, b q -> P q)

fn main():
    rows = dataset(Row, x=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], y=[0, 3])
    print(len(rows))
    for r in rows |> take(10) |> skip(1) |> repeat(2) |> shuffle(seed=1) |> prefetch(2) |> batches(2):
        print(total(r))
    for r in rows |> map(mod.augment) |> batches(4):
        print(total(r))
    z = sub.f(3, 4.0) as int
    print(z)
