# expect: E1102 @6:20
fn f(x: int) -> []:
    return 1.0

fn g() -> []:
    return grad(f, "a")
