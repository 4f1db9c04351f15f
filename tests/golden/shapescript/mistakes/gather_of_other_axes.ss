# expect: E0413 @3:22
fn f(x: [b n], i: [c k] Index[n]) -> [c k]:
    return gather(x, i, over=n)
