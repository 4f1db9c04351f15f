# expect: E0501 @3:25
model M:
    buffer w: [3] i64 = full(0.5)
