# expect: E0404 @3:20
model M:
    param w: [3] = 3
