# expect: E0802 @5:16
model L[A]:
    param w: [A] = zeros()
model M:
    layer a: L[n]
