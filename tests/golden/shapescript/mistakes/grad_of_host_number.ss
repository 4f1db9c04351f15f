# expect: E1102 @6:23
fn cost(k: float, x: [n]) -> []:
    return sum(x) * k

fn f(k: float, x: [n]) -> []:
    return grad(cost, k, x)
