# expect: E0406 @5:12
devices cpu

fn f() -> [3 4]:
    return linspace[3 4](0.0, 1.0)
