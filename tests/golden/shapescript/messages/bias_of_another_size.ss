dim D = 4
dim E = 6

fn f(x: [b E], bias: [D]) -> [b E]:
    return x + bias

# says: `D` is 4
# says: `E` is 6
# says: no axis of `[b E]` has the size of `D`
