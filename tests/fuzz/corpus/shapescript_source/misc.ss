# expect: ok
fn a(x: [b n d], w: [d e]) -> [b n e]:
    y: [b n e] = x @ w
    return y

fn c(x: [b n], f: [n]) -> [b n]:
    z = x as [b n] f64
    return (z as f32) + f

fn d(x: [b 2*n]) -> [b n]:
    p, q = x |> split(b (2 n) -> b n)
    return p * q

fn e(x: [2*n]) -> [n]:
    p, q = x |> split((2 n) -> n)
    return p + q

fn g(y: [6]) -> [3]:
    return e(y)

fn h(x: [b c h w]) -> [b c*h*w]:
    return x |> rearrange(b ... -> b ...) |> merge(b c h w -> b (c h w))

fn k(x: [n 1 m]) -> [n m]:
    return x |> rearrange(n 1 m -> n m)

fn l(x: [n m]) -> [n 1 m]:
    return x |> rearrange(n m -> n 1 m)

fn p(x: [n]) -> [n] Unit:
    return 1.0 - sigmoid(x)

fn q(x: [n]) -> [n] Pos:
    return exp(x) / (1.0 + exp(x))

fn r(x: [b n]) -> [b n]:
    return x / (sum(x, over=n) + 1e-6)

fn s(x: [n], y: [n]) -> [n] bool:
    return x == y

fn t2(f: fn ([n]) -> [], x: [n]) -> []:
    return f(x)

fn u(x: [n d], i: int) -> [d]:
    return x[i]

fn v(x: [n m]) -> [m n]:
    return x |> rearrange(n m -> m n)

fn w(x: [n]) -> []:
    return sum(x) / n
