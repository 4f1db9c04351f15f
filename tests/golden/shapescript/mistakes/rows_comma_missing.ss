# expect: E0110 @8:25
devices cpu

fn s(x: [b d]) -> [b]:
    return sum(x, over=d)

fn main():
    print(s([[1.0, 2.0] [3.0, 4.0], [5.0, 6.0]]))
