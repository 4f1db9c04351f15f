# expect: E0506 @3:12
fn f(x: [n]) -> [n]:
    assert(x > 0.0, "negative")
    return x
