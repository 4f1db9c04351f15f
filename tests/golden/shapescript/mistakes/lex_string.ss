# expect: E0104 @3:11
fn main():
    print("a, 1)
