# expect: E0603 @6:16
fn pair(x: [d], y: [d]) -> [d]:
    return x + y

fn f(x: [n d]) -> [n d]:
    return map(pair, x, over=n)
