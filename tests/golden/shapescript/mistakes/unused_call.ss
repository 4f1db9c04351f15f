# expect: ok
# warn: W0601 @7:5
fn g(x: [n]) -> [n]:
    return x

fn f(x: [n]) -> [n]:
    g(x)
    return x
