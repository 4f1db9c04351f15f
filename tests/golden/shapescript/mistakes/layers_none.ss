# expect: E0302 @5:14
model L:
    param w: [3] = zeros()
model M:
    layer a: 0 * L
