# expect: E0201 @6:9
devices cpu

fn main():
    for i in 0..3:
        total += i
    print(total)
