# expect: E0502 @6:12
dim A = 3
dim B = 3

fn f(p: [A B] Prob[A]) -> [B A] Prob[A]:
    return p
