# expect: E0505 @9:18
dim A = 3
dim B = 10

fn f(x: [A], y: [B], table: [A], k: int) -> []:
    i = argmax(x, over=A)
    for _r in 0..k:
        i = argmax(y, over=B)
    return table[i]
