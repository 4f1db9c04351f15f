# expect: E0111 @5:1
dim D = 3

fn f(x: [n D]) -> [n D]:
fn f(x: [n D]) -> [n D]:
    return x

fn g(x: [n D]) -> [n D]:
    return f(x)
