# expect: E1504 @3:5
devices cpu
    pipeline 4

fn f(x: [n]) -> [n]:
    return x
