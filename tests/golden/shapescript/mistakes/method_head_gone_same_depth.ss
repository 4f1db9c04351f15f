# expect: E0110 @8:5
devices cpu

dim D = 4
model Lin:
    param w: [D D] = eye()

    y = x @ self.w
    z = y + 1.0
    return z
