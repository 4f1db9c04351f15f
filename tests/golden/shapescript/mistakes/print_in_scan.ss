# expect: E1801 @3:5
fn f(a: [d], x: [d]) -> [d]:
    print(1)
    return a + x

fn g(x: [n d], s: [d]) -> [d]:
    return scan(f, s, x, over=n)
