# expect: E1803 @4:11
fn main():
    x = [1.0, 2.0]
    print(x * 2.0)
