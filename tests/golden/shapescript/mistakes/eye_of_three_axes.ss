# expect: E0404 @5:24
devices cpu

model M:
    param w: [3 3 3] = eye()
