# expect: E0112 @3:12; E0201 @5:16
fn f(x: [n]) -> [n]:
    return (x + 1.0
fn h(x: [n]) -> [n]:
    return x * zork
