# expect: E0501 @3:17
fn main():
    print("a" + 1)
