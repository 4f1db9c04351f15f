# expect: E0110 @6:11
devices cpu

dim D = 4
model Lin:
    param : [D D] = xavier()

    fn forward(self, x: [b D]) -> [b D]:
        return x @ self.w
