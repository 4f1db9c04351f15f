# expect: E0201 @3:17
fn f(x: [b]) -> [b 3]:
    y = zeros[b n]
    return y
