# expect: E0202 @5:9
model F[A B]:
    param w: [A B] = zeros()

fn f(m: F[3]) -> []:
    return sum(m.w)
