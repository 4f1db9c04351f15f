# expect: E0413 @6:14
# The sizes agree, but `A` is one of the other's axes, at another place.
dim A = 4

fn f(x: [A 4], y: [4 A]) -> [A 4]:
    return x * y
