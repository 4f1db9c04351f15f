# expect: E0301 @3:12
fn f(x: [b 3 8 8], w: [5 3 3 3]) -> [b 5 3 3]:
    return conv2d(x, w, stride=2)
