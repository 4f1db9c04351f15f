# expect: ok
devices cpu

dim D = 4
dim C = 3

model Net:
    layer bn: BatchNorm[D]
    param w: [D C] = xavier()
    buffer seen: [] i64 = zeros()

    fn forward(mut self, x: [b D]) -> [b C]:
        y = batch_norm(x, mut self.bn, over=b)
        return dropout(y, p=0.1) @ self.w

fn loss(mut m: Net, x: [b D], y: [b] Index[C]) -> [] NonNeg:
    return cross_entropy(m.forward(x), y, over=C)

fn predict(mut m: Net, x: [b D]) -> [b] Index[C]:
    return argmax(m.forward(x), over=C)
