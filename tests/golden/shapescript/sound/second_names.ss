# expect: ok
# A local, a loop variable and a layer are second names for parts of a model.
devices cpu

dim D = 3

model Layer:
    param w: [D D] = kaiming()
    buffer n: [] = zeros()
    layer bn: BatchNorm[D]

    fn forward(mut self, x: [b D]) -> [b D]:
        self.n += 1.0
        return batch_norm(x @ self.w, mut self.bn, over=b)

model Net:
    layer first: Layer
    layer parts: 3 * Layer

    fn forward(mut self, x: [b D]) -> [b D]:
        y = x |> self.first
        for part in self.parts:
            y = y |> part
        return y

fn halve(mut l: Layer):
    l.w = l.w * 0.5

fn blend(mut l: Layer, r: Layer):
    l.w = l.w + r.w

fn widest(n: Net) -> Layer:
    return n.parts[0]

fn change(mut n: Net):
    p = n.first
    p.w = p.w * 0.5
    halve(mut p)
    for part in n.parts:
        part.w = part.w * 0.5
        blend(mut part, p)
    halve(mut n.parts[2])
    blend(mut n.parts[0], n.parts[1])
    for i in 1..3:
        blend(mut n.parts[i], n.parts[i - 1])
    q = widest(n)
    halve(mut q)

fn normed(mut n: Net, x: [b D]) -> [b D]:
    y = batch_norm(x, mut n.parts[0].bn, over=b)
    return batch_norm(y, mut n.parts[1].bn, over=b)

# A name bound to another model leaves what it was before as it is.
fn apart(n: Net, mut m: Net):
    p = n.first
    x = p.w
    p = m.first
    p.w = x

# A parameter that is not `mut` may be assigned anew as a whole.
fn scaled(x: [n]) -> [n]:
    x = x * 2.0
    x += 1.0
    return x

fn main():
    a = Net(seed=0)
    b = Net(seed=1)
    blend(mut a.first, b.first)
    change(mut a)
    best = a
    a = Net(seed=2)
    blend(mut a.first, best.first)
    print(normed(mut a, zeros[2 D]), scaled(ones[3]))
