# expect: E0506 @4:8
fn f(x: [n]) -> [n]:
    l = mean(x)
    if l < 0.1:
        x = x * 2.0
    return x
