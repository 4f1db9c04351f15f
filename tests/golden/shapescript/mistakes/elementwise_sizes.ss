# expect: E0401 @6:16
dim A = 3
dim B = 4

fn f(x: [n A], y: [n B]) -> [n A]:
    return x * y
