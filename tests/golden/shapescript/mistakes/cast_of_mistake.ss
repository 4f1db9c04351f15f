# expect: E0201 @3:12
fn f(x: [n]) -> [n] bf16:
    return zork(x) as bf16
