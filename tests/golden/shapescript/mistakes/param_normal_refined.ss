# expect: E0502 @3:27
model M:
    param w: [3] NonNeg = normal()
