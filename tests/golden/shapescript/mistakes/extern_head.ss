# expect: E1403 @6:18
devices cpu

dim D = 4

extern fn jitter(x: [D b]) -> [b D] = "augment.jitter"

fn f(x: [b D]) -> [b D]:
    return jitter(x)
