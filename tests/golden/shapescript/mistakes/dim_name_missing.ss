# expect: E0110 @4:5
devices cpu

dim = 4
dim E = 5

fn f(x: [b D], w: [D E]) -> [b E]:
    return x @ w
