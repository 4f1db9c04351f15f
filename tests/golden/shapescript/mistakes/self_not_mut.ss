# expect: E0701 @8:9
dim D = 4

model Norm:
    buffer mean: [D] = zeros()

    fn track(self, x: [b D]) -> [b D]:
        self.mean = mean(x, over=b)
        return x - self.mean
