# expect: E0205 @5:9
model F[A B]:
    param w: [A B] = zeros()

fn f(m: F) -> []:
    return sum(m.w)
