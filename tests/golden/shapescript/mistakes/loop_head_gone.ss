# expect: E0103 @6:9
devices cpu

fn main(n: int):
    i = 0
        i += 1
        if i > 9:
            break
    print(i + n)
