# expect: E1002 @3:14
fn main():
    for i in 3:
        print(i)
