fn f(x: [n] float32) -> [n]:
    return x

# says: here it is `f32`
