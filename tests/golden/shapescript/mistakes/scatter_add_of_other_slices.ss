# expect: E0403 @3:30
fn f(x: [n d], i: [k] Index[n], v: [k 3]) -> [n d]:
    return scatter_add(x, i, v, over=n)
