# expect: E0701 @12:17
dim D = 4

model Layer:
    buffer n: [] = zeros()

    fn forward(mut self, x: [b D]) -> [b D]:
        self.n += 1.0
        return x

fn run(m: Layer, x: [b D]) -> [b D]:
    return x |> m
