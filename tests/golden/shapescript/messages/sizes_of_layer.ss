model Linear[I O]:
    param w: [I O] = normal(std=0.02)

    fn forward(self, x: [b I]) -> [b O]:
        return x @ self.w

model Net:
    layer first: Linear[4 12]
    layer second: Linear[7 3]

    fn forward(self, x: [b 4]) -> [b 3]:
        return x |> self.first |> self.second

# says: `x` of `forward` is `[b 7]`, but this is `[b 12]`
# says: `I` is 7 here
# says: this stage takes `[b 7]`
