# expect: E0209 @6:9
devices cpu

fn main():
    for i in 0..3:
        total += i
    print(total)
