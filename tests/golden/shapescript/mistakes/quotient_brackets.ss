# expect: E0301 @3:22
fn f(x: [b 3]) -> [b]:
    return sum(zeros[3/2 3])
