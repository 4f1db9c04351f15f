# expect: E0110 @4:5
fn main():
    x = 1
    else:
        print(x)
