# expect: ok
devices cpu

dim N = 4
dim C = 3

model M:
    param w: [N C] = kaiming()
    param b: [C] = full(0.5)
    param u: [N N] = orthogonal()
    param e: [N N] = eye()
    param r: [C] = uniform(-1.0, 1.0)
    param c: [] = 0.1

    fn forward(self, x: [b N]) -> [b C]:
        return x @ self.u @ self.w + self.b

model Deep:
    layer parts: 2 * M
    layer first: M

    fn forward(self, x: [b N]) -> [b C]:
        y = self.first(x) * 0.0
        for p in self.parts:
            y = y + p(x)
        return y + self.parts[0].forward(x)

data Row:
    x: [N]
    y: [] Index[C]

import python m

fn cost(d: M, x: [b N], y: [b] Index[C]) -> [] NonNeg:
    return cross_entropy(d(x), y, over=C, smoothing=0.1)

fn both(mut d: M, mut o: Lion[M], mut a: Adam[M], x: [b N], y: [b] Index[C]) -> []:
    l, g = value_and_grad(cost, d, x, y)
    g2 = grad(cost, d, x, y)
    update(mut d, mut o, accumulate(g, g2))
    update(mut d, mut a, g)
    return l + sum(g.w) + stop_gradient(l)

fn ops(x: [b n c], i: [b n c] Index[C]) -> [b n c]:
    a = upsample(x, over=(n, c), by=1)
    return a

fn line(x: [b 4 9], w: [2 4 3]) -> [b 2 4]:
    return conv1d(x, w, stride=2)

fn pools(x: [b c t]) -> [b c t]:
    return avg_pool(x, over=t, size=1)

fn grown(x: [d]) -> [3 d]:
    return expand(x, k=3)

fn noisy(x: [n]) -> [n]:
    mask = bernoulli[n](0.5)
    return where(mask, dropout(x, p=0.2), x) + (randint[n](0, 5) as f32)

fn gathered(x: [n C], i: [n k] Index[C]) -> [n k]:
    return gather(x, i, over=C)

fn outer_sum(x: [n], y: [m]) -> []:
    return sum(outer(x, y)) + mean(abs(x)) + norm(y)

fn cut(x: [b N]) -> [b 2]:
    return x[N=0..2]

fn tail(x: [N d]) -> [2 d]:
    return x[2..]

fn head(x: [N d]) -> [d]:
    return x[N=3]

fn minus_all(x: [b n]) -> [b n]:
    return x - logsumexp(x, over=n)

fn normed(x: [b n]) -> [b n] Unit:
    p = softmax(x, over=n)
    return p * 0.5

fn squared(x: [n]) -> [n] NonNeg:
    return x ** 2

fn diag_of(x: [n n]) -> [n]:
    return diag(x) + einsum(x: n n -> n)

fn main(rounds: int = 2):
    seed(3)
    d = M(seed=1)
    o = lion(d, lr=1e-4)
    a = adam(d)
    rows = dataset(Row, x=[[1.0, 2.0, 3.0, 4.0]], y=[2])
    for r in progress(rows |> shuffle(seed=1) |> batches(2), "train"):
        print(both(mut d, mut o, mut a, r.x, r.y))
    save(d, "a.safetensors")
    load(mut d, "a.safetensors")
    save_checkpoint("c", d, o, step=rounds)
    more = csv("rows.csv", Row)
    made = from_fn(m.rows, Row)
    print(len(more) + len(made), env("HOME"), eval(cost)(d, [[1.0, 2.0, 3.0, 4.0]], [1]))
    lr = linear(1, total=10, peak=0.1) + constant(0.5)
    print(lr, abs(-3), sqrt(2.0), 7 % 3, "a" + str(2), true and not false)
    log("run.jsonl", step=1, loss=0.5)
