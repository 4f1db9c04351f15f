# expect: ok
# Sizes that are quotients of symbolic ones.
devices cpu[0 1 2]

dim D = 12
dim H = 3

data Row:
    x: [D]

model Head[A]:
    param w: [A A/2] = normal(std=0.02)
    param bias: [A/2] = zeros()
    buffer seen: [A/2 2] = zeros()

    fn forward(self, x: [n A]) -> [n A/2]:
        return x @ self.w + self.bias

    fn spread(self) -> [A/2 2]:
        return self.seen + zeros[A/2 2]

    fn whole(self) -> [A]:
        return self.seen |> rearrange(h two -> (h two))

model Outer[B]:
    layer first: Head[2*B/H]
    layer rest: (B/4) * Head[B]

    fn forward(self, x: [n B]) -> [n B/2]:
        y = x @ self.rest[0].w
        for head in self.rest:
            y = head.forward(x)
        return y

fn halves(x: [n]) -> [n/2 2]:
    return x |> rearrange((h 2) -> h 2)

fn heads(x: [t d]) -> [4 t d/4]:
    return x |> rearrange(t (h e) -> h t e, h=4)

fn doubled(x: [n/2]) -> [n]:
    y = x |> rearrange(h -> h)
    return concat(y, y, along=h)

fn given(x: [6]) -> [12]:
    return doubled(x)

fn between(x: [m]) -> [m/2 2]:
    return halves(x)

fn front(x: [n]) -> [n/2]:
    return x[0..n/2] |> rearrange(h -> h)

fn shrunk(x: [b c h w]) -> [b c h/2 w/2]:
    return max_pool(x, size=2)

fn both(x: [n/2 + n/2], y: [2*(n/2)]) -> [n]:
    return (x |> rearrange(k -> k)) + (y |> rearrange(k -> k))

fn ratio(x: [a*c], y: [c]) -> [a c]:
    return x |> rearrange((k c) -> k c) |> scale(2.0)

fn loss(m: Outer[D], batch: [b] Row) -> [] NonNeg:
    y = halves(sum(batch.x |> m, over=b))
    return mean(square(y))

fn step(mut m: Outer[D], mut opt: AdamW[Outer[D]], batch: [b] Row) -> [] NonNeg:
    l, g = value_and_grad(loss, m, batch)
    update(mut m, mut opt, g)
    return l

fn train(data: Dataset[Row]):
    m = Outer[D](seed=0)
    opt = adamw(m)
    for batch in data |> batches(6):
        print(step(mut m, mut opt, batch))
