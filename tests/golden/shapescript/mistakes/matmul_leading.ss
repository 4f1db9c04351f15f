# expect: E0413 @3:14
fn f(x: [b t d], y: [c d s]) -> [b t s]:
    return x @ y
