# expect: E0413 @5:14
dim A = 3

fn f(x: [b A 5], y: [3]) -> [b A 5]:
    return x * y
