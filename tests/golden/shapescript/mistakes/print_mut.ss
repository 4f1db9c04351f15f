# expect: E0701 @5:15
devices cpu

fn p(k: int):
    print(mut k)
