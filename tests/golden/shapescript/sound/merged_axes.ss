# expect: ok
# An axis that is arithmetic, merged or joined has no name; it meets an axis of its size at its place.
devices cpu

dim W = 12
dim H = 3
dim E = W / H
dim F = 48
dim A = 4

fn residual(x: [b t W], y: [b t H E]) -> [b t W]:
    return x + rearrange(y: b t H E -> b t (H E))

fn bias(y: [b t H E], c: [W]) -> [b t W]:
    return rearrange(y: b t H E -> b t (H E)) + c

fn product(x: [b F], c: [4*W]) -> [b F]:
    return x + c

fn number(x: [b W], c: [b 3*4], d: [b H*4]) -> [b W]:
    return x + c + d

fn patches(x: [b gy*gx W], y: [b gx*gy W]) -> [b gy*gx W]:
    return x + y

fn sum_order(x: [b n+1], y: [1+n], z: [n*2+1]) -> [b n+1]:
    return x + y + z[n..]

fn shifted(x: [n], y: [n+1]) -> [n]:
    return x + y[1..]

fn joined(x: [n], y: [n+n], z: [2*n]) -> [n+n]:
    return concat(x, x, along=n) + y + z

fn joined_dims(x: [A], c: [2*A]) -> [8]:
    return concat(x, x, along=A) + c

fn normed(y: [b t H E]) -> [b t W]:
    h = rearrange(y: b t H E -> b t (H E))
    return layer_norm(h, over=W)

fn shares(y: [b H E]) -> [b W] Prob[W]:
    return rearrange(y: b H E -> b (H E)) |> softmax(over=W)

fn total(y: [b H E]) -> [b]:
    return rearrange(y: b H E -> b (H E)) |> sum(over=W)

fn cut(y: [b H E]) -> [b 2]:
    return rearrange(y: b H E -> b (H E))[W=0..2]

fn beside(x: [b 3 n], y: [b n]) -> [b 3 n]:
    return x * y

fn under(x: [b 3 n k], y: [3 n]) -> [b 3 n k]:
    return x * y

fn product_given(x: [n*m], y: [n]) -> [m]:
    return x |> rearrange((n m) -> n m) |> sum(over=n)

fn product_known(x: [12], y: [3]) -> [4]:
    return product_given(x, y)
