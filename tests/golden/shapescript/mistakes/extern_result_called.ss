# expect: E1904 @6:31
devices cpu

dim D = 4

extern fn jitter(x: [b D]) -> [D b] = "augment.jitter"

fn f(x: [b D]) -> [b D]:
    return jitter(x)
