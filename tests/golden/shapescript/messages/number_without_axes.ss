fn f(x: f32) -> []:
    return x

# says: here it is `[] f32`
