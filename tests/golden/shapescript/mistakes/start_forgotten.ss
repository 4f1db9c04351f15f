# expect: E0201 @6:13
devices cpu

fn f(x: [n], k: int) -> [n]:
    for _i in 0..k:
        y = y * 2.0 + x
    return y
