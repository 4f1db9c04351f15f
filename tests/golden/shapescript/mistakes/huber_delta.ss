# expect: E0403 @3:30
fn f(x: [n], y: [n]) -> []:
    return huber(x, y, delta="a")
