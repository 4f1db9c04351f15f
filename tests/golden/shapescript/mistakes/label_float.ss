# expect: E0505 @3:29
fn f(z: [b d], y: [b]) -> []:
    return cross_entropy(z, y, over=d)
