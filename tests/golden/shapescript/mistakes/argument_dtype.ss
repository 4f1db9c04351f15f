# expect: E0501 @6:14
fn g(x: [n]) -> [n]:
    return x

fn f(x: [n] f16) -> [n]:
    return g(x)
