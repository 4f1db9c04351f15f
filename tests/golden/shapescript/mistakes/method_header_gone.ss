# expect: E0103 @4:9
model M:
    param w: [3] = zeros()
        y = 3
        z = 4
        return z
