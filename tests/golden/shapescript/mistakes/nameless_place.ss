# expect: E0413 @4:14
# An axis without a name meets the one at its place alone: the last, not the middle one of its size.
fn f(x: [b 3 4], y: [3]) -> [b 3 4]:
    return x * y
