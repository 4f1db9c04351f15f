# expect: E1003 @6:9
fn main(k: int):
    if k > 0:
        x = 1
    else:
        x = "a"
    print(x)
