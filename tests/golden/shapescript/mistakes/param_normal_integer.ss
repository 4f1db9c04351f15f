# expect: E0503 @3:24
model M:
    param w: [3] i64 = normal()
