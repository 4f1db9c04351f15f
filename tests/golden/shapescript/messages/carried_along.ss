fn step(acc: [], x: [n]) -> [n]:
    return x * acc

fn f(xs: [t n]) -> [n]:
    return scan(step, 0.0, xs, over=t)

# says: `step` gives this
