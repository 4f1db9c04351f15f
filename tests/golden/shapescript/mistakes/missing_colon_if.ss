# expect: E0110 @3:13
fn main(k: int):
    if k > 0
        print(1)
