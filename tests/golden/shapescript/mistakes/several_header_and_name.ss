# expect: E0110 @2:8; E0201 @5:19
fn f(x [n]) -> [n]:
    return x
fn h(x: [n]) -> [n]:
    return f(x) * zork
