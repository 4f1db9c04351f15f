# expect: ok
devices cpu

dim N = 4
dim A = 6

fn elementwise(x: [n] Pos, y: [n]) -> [n]:
    a = exp(x) + expm1(x) + log(x) + log1p(x) + sqrt(x) + rsqrt(x) + square(x) + sin(x) + cos(x)
    c = tanh(a) + sigmoid(a) + relu(a) + gelu(a, approx=true) + silu(a) + softplus(a)
    d = leaky_relu(c, slope=0.1) + elu(c) + erf(c) + floor(c) + ceil(c) + round(c) + sign(c)
    e = clamp(d, lo=0.0, hi=1.0) + pow(x, 2.0) + minimum(x, y) + maximum(x, 0.0) + neg(y) + abs(y)
    return where(isnan(e), 0.0, e) + where(isinf(e), e, 1.0)

fn reductions(x: [b n d]) -> []:
    s = sum(x, over=(n, d)) + mean(x, over=(b, n, d)) + prod(x)
    m = max(x, over=b) |> min(over=n) |> sum
    v = var(x, over=d, correction=1) |> sum
    z = std(x) + norm(x) + logsumexp(x) + mean(logsumexp(x, over=d))
    k = count(x > 0.0)
    q = any(x > 0.0)
    r = all(x > 0.0, over=d)
    return sum(s) + m + v + z + sum(where(r, 1.0, 0.0)) + sum(where(q, 1.0, 0.0)) + (k as f32)

fn shapes(x: [b 6], y: [2 3]) -> [b 2 3]:
    a = x |> rearrange(b (h k) -> b h k, h=2)
    return a * y

fn joins(x: [n 3], y: [m 3]) -> [n+m 3]:
    return concat(x, y, along=n)

fn stacks(x: [n], y: [n]) -> [2 n]:
    return stack(x, y, new=k)

fn padded(x: [4 d]) -> [4 d+2]:
    return pad(x, d=(1, 1), value=0.0)

fn shifted(x: [n d]) -> [n d]:
    return shift(x, n=1, fill=0.0) + flip(x, over=n) + roll(x, over=d, by=2)

fn picks(x: [n A], ids: [m] Index[A]) -> [n m]:
    return index_select(x, ids, over=A)

fn slices(x: [A N d]) -> [2 d]:
    y = x[0]
    z = x[1, 2]
    return y[0..2] + y[N=2..4] + z

fn tables(t: [A d], ids: [b n] Index[A]) -> [b n d]:
    return t[ids]

fn attends(q: [b h n e], k: [b h m e], v: [b h m e], mask: [n m] bool) -> [b h n e]:
    return attention(q, k, v, mask=mask, scale=0.5)

fn convs(x: [b 3 8 8], w: [5 3 3 3]) -> [b 5 4 4]:
    return conv2d(x, w, stride=1, pad=1) |> relu |> avg_pool(size=2)

fn losses(x: [b n] Unit, y: [b n] Unit) -> [] NonNeg:
    a = mse(x, y) + l1(x, y) + huber(x, y) + bce(x, y) + bce_logits(x, y)
    return a + kl(softmax(x, over=n), softmax(y, over=n), over=n)

fn per(x: [b A], y: [b] Index[A]) -> [b] NonNeg:
    return cross_entropy(x, y, over=A, per_example=true) + nll(log_softmax(x, over=A), y, over=A, per_example=true)

fn masks(x: [n m]) -> [n m] bool:
    w = window[n m](3)
    return !w

fn more(x: [n n]) -> [n n]:
    return tril(x) + triu(x) + (eye[n n] as f32)

fn turned(x: [n m]) -> [m n]:
    return transpose(x, n, m)

fn made(x: [n]) -> [n]:
    return zeros[n] + ones[n] + full[n](2.0) + (arange[n] as f32) + normal[n](std=1.0) + uniform[n](0.0, 1.0) + linspace[n](0.0, 1.0)

fn vec(x: [n], y: [n]) -> []:
    return dot(x, y) + trace(outer(x, y))

fn top(x: [b n]) -> ([b 2], [b 2] Index[n]):
    return topk(x, over=n, k=2)

fn ints(i: [n] i64, j: [n] i64) -> [n] i64:
    return i * 2 + j - 1

fn halves(x: [n] bf16) -> [n] bf16:
    return x * 2.0 + 1

fn grp(x: [b c h w]) -> [b c h w]:
    return group_norm(x, over=c, groups=2)

fn rms(x: [b d], g: [d]) -> [b d]:
    return rms_norm(x, over=d, gain=g)

fn scanned(a: [d], x: [d]) -> [d]:
    return a * 0.9 + x

fn run(x: [n d]) -> [d]:
    return scan(scanned, zeros[d], x, over=n)

fn square_row(x: [d]) -> [d]:
    return x * x

fn mapped(x: [n d]) -> [n d]:
    return map(square_row, x, over=n)

fn hot(ids: [n] Index[A]) -> [n A]:
    return one_hot(ids, A)

fn literals() -> [2 2]:
    return [[1.0, 2.0], [3.0, 4.0]]

fn sub(x: [b n], y: [b]) -> [b n]:
    return x - y / 2.0
