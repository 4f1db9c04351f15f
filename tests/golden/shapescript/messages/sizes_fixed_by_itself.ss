model Swapped[D]:
    param w: [D D] = normal(std=0.02)

    fn forward(self, x: [D b]) -> [D b]:
        return self.w @ x

fn f(m: Swapped[D], x: [b D]) -> [D b]:
    return m.forward(x)

dim D = 4

# says: `x` of `forward` is `[D b]`, but this is `[b D]`
# says: `D` is 4 here
