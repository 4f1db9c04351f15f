# expect: E0501 @3:12
fn f(x: [n] bf16) -> [n]:
    return x
