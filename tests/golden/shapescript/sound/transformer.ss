# expect: ok
devices cuda[0 1]
    shard params
    split H

dim Vocab = 1000
dim T     = 128
dim D     = 64
dim H     = 4
dim Dh    = D / H
dim Ff    = 4 * D
dim L     = 3

model Norm:
    param gain: [D] = ones()
    param bias: [D] = zeros()

    fn forward(self, x: [b n D]) -> [b n D]:
        return layer_norm(x, over=D, gain=self.gain, bias=self.bias)

model Attn:
    param qkv: [D 3*D] = normal(std=0.02)
    param out: [D D] = normal(std=0.02)

    fn forward(self, x: [b n D]) -> [b n D]:
        q, k, v = x @ self.qkv |> split(b n (3 H Dh) -> b H n Dh)
        scores = einsum(q, k: b H n Dh, b H m Dh -> b H n m)
            |> scale(1 / sqrt(Dh))
            |> masked_fill(!causal[n m], -inf)
        p = softmax(scores, over=m)
        y = einsum(p, v: b H n m, b H m Dh -> b H n Dh)
        return y |> rearrange(b H n Dh -> b n (H Dh)) |> matmul(self.out)

model Mlp[A B]:
    param up: [A B] = normal(std=0.02)
    param down: [B A] = normal(std=0.02)

    fn forward(self, x: [b n A]) -> [b n A]:
        return x @ self.up |> gelu |> matmul(self.down)

model Block:
    layer n1: Norm
    layer n2: Norm
    layer attn: Attn
    layer mlp: Mlp[D Ff]

    fn forward(self, x: [b n D]) -> [b n D]:
        y = x + self.attn.forward(self.n1.forward(x))
        return y + self.mlp(self.n2(y))

model Gpt:
    param tok: [Vocab D] = normal(std=0.02)
    param pos: [T D] = normal(std=0.02)
    layer blocks: L * Block
    layer norm: Norm

    fn forward(self, ids: [b T] Index[Vocab]) -> [b T Vocab]:
        x = self.tok[ids] + self.pos
        for blk in self.blocks:
            x = blk.forward(x)
        x = x |> self.norm
        return einsum(x, self.tok: b t d, v d -> b t v)

data Text:
    ids:  [T] Index[Vocab]
    next: [T] Index[Vocab]

fn loss(m: Gpt, batch: [b] Text) -> [] NonNeg:
    return cross_entropy(m.forward(batch.ids), batch.next, over=Vocab)

fn step(mut m: Gpt, mut opt: AdamW[Gpt], batch: [b] Text, rate: float) -> ([] NonNeg, [] NonNeg):
    l, g = value_and_grad(loss, m, batch)
    small, size = clip_norm(g, max=1.0)
    update(mut m, mut opt, small, lr=rate)
    return l, size

fn train(mut m: Gpt, rows: Dataset[Text], epochs: int):
    opt = adamw(m, lr=3e-4, weight_decay=0.1)
    k = 0
    for epoch in 0..epochs:
        for batch in rows |> shuffle(seed=epoch) |> batches(16, last="drop"):
            l, size = step(mut m, mut opt, batch, cosine(k, total=1000, warmup=10, peak=3e-4))
            k += 1
            if k % 10 == 0 and k > 0:
                print("step", k, l, size)
                log("run.jsonl", step=k, loss=l)
    save(m, "m.safetensors")

fn main(epochs: int = 3):
    seed(1)
    m = Gpt(seed=0)
    rows = load_tensors("x.safetensors", Text)
    train(mut m, rows, epochs)
