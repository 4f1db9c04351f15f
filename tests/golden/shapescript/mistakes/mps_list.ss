# expect: E1507 @2:12
devices mps[0]

fn f(x: [n]) -> [n]:
    return x
