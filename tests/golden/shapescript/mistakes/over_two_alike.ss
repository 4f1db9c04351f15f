# expect: E0405 @5:26
dim D = 4

fn f(x: [b 4 4]) -> [b 4]:
    return sum(x, over = D)
