# expect: E0506 @5:12
fn f(x: [n], k: int) -> []:
    total = 0.0
    for _i in 0..k:
        if total > 3.0:
            break
        total += mean(x)
    return total
