fn f(x: [n D]) -> [n]:
    return sum(x, axis=-1)

dim D = 4

# says: an axis is given by its name
