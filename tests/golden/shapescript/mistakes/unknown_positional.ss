# expect: E0201 @5:23
devices cpu

fn f(x: [b d]) -> [b d]:
    return softmax(x, dim)
