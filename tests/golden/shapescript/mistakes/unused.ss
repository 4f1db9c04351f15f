# expect: ok
# warn: W0201 @4:5
fn f(x: [n]) -> [n]:
    y = x * 2.0
    return x
