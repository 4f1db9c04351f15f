# expect: E0302 @6:19
fn g(x: [n]) -> [n k]:
    return repeat(x: n -> n k)

fn f(x: [n]) -> [n 3]:
    return g(x, k=0)
