# expect: E0505 @10:18
dim A = 3
dim B = 10

fn f(x: [A], y: [B], table: [A], k: int) -> []:
    if k > 0:
        i = argmax(x, over=A)
    else:
        i = argmax(y, over=B)
    return table[i]
