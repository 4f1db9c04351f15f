fn f(x: [n D]) -> [n D]:
    return softmax(x, 1)

dim D = 4

# says: an axis is given by its name
