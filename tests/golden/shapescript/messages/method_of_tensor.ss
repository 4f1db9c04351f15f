fn f(x: [n D]) -> [n]:
    return x.sum(over=D)

dim D = 4

# says: `sum` is a function: `sum(x)`, or `x |> sum`
