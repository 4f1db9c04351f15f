# expect: E0404 @5:20
devices cpu

model M:
    param w: [3] = xavier()
