# expect: E0201 @7:17
devices cpu

fn main():
    total = 0
    for i in 0..3:
        total = totl + i
    print(total)
