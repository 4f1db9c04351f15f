# expect: E0701 @12:13
dim D = 3

model Lin:
    param w: [D] = zeros()

model Net:
    layer parts: 3 * Lin

    fn halve(self):
        for p in self.parts:
            p.w = p.w * 0.5
