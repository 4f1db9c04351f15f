# expect: E0202 @2:21
fn f(x: [n]) -> ([] NonNeg [] NonNeg):
    return sum(abs(x)), sum(abs(x))

fn g(x: [n]) -> [] NonNeg:
    a, b = f(x)
    return a + b
