# expect: E0604 @4:21
devices cpu

fn main(a: int = 3, b: int):
    print(a, b)
