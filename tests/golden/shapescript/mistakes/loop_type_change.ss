# expect: E1003 @5:9
fn main():
    x = 1
    for i in 0..3:
        x = "a"
    print(x)
