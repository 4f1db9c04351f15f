# expect: E1505 @3:11
devices cpu[0 1]
    split q

fn f(x: [n]) -> [n]:
    return x
