# expect: E0801 @4:12
model M:
    param a: [3] = zeros()
    buffer c: []
