# expect: E0201 @6:17
fn cell(h: [d], x: [d]) -> [d]:
    return h + x

fn f(x: [n d], h: [d]) -> [d]:
    return scan(cel, h, x, over=n)
