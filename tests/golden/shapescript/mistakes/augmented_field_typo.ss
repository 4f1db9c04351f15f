# expect: E0204 @9:14
devices cpu

dim D = 8
model Norm:
    buffer seen: [] = zeros()

    fn track(mut self, x: [b D]) -> [b D]:
        self.sen += 1.0
        return x - self.seen
