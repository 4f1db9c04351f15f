fn f(n: int) -> int:
    for step in 0..n:
        print(step)
    return step

# says: `step` is known in this loop alone
