# expect: E0110 @5:14
devices cpu

fn f(x: [n]) -> [n]:
    return x[]
