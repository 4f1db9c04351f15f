model Lin:
    param w: [3] = zeros()

model Net:
    layer a: Linn

# says: did you mean `Lin`?
