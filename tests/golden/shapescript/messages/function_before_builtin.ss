fn cell(acc: [], x: []) -> []:
    return acc + x

fn f(x: [n]) -> []:
    return scan(cel, 0.0, x, over=n)

# says: did you mean `cell`?
