# expect: E0601 @6:17
fn step(h: [d]) -> [d]:
    return h * 2.0

fn f(x: [n d], h: [d]) -> [d]:
    return scan(step, h, x, over=n)
