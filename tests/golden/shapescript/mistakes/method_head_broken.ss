# expect: E0110 @7:24
devices cpu

model Lin[I O]:
    param w: [I O] = xavier()

    fn forward(self, x [b I]) -> [b O]:
        return x @ self.w

model Two:
    layer a: Lin[3 4]
    layer c: Lin[4 5]

    fn forward(self, x: [b 3]) -> [b 5]:
        return x |> self.a |> self.c

fn f(m: Two, x: [b 3]) -> [b 5]:
    return m.forward(x)
