# expect: E0202 @8:14
dim D = 4

model Lin:
    param w: [D D] = eye()

model Net:
    layer a: Linn
