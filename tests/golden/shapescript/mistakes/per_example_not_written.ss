# expect: E0403 @3:34
fn f(x: [b n], y: [b n], each: bool) -> []:
    return mse(x, y, per_example=each)
