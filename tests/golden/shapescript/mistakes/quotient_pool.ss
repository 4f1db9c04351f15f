# expect: E0301 @5:23
fn shrunk(x: [b c h w]) -> [b c h/2 w/2]:
    return max_pool(x, size=2)
fn f(x: [b 3 9 8]) -> []:
    return sum(shrunk(x))
