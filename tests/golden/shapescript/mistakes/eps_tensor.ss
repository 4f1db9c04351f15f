# expect: E0403 @3:36
fn f(x: [b n], g: [n]) -> [b n]:
    return rms_norm(x, over=n, eps=g)
