# expect: E0402 @6:16
dim A = 3
dim B = 4

fn f(x: [n A], y: [B n]) -> [n n]:
    return x @ y
