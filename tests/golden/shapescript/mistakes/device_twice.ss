# expect: E1502 @2:15
devices cpu[0 0]

fn f(x: [n]) -> [n]:
    return x
