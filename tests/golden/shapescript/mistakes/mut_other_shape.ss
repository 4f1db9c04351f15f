# expect: E0404 @3:9
fn cut(mut x: [n], y: [m]):
    x = y
