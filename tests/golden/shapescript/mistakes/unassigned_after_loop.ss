# expect: E0209 @5:11
fn main():
    for i in 0..3:
        z = i
    print(z)
