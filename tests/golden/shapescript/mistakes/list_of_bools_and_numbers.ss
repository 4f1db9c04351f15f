# expect: E0501 @6:20
fn g(x: [n] bool) -> [n] bool:
    return x

fn main():
    print(g([true, 1]))
