# expect: E0201 @7:12
devices cpu

fn twice(x: [n]) -> [n]:
    return x * 2.0

    return a + b

fn main():
    print(twice([1.0]), total([1.0], [2.0]))
