# expect: E0110 @2:9
fn e(x: : [n]) -> []:
    return sum(square(x))

fn slope(x: [n]) -> [n]:
    l, g = value_and_grad(e, x)
    return g * l
