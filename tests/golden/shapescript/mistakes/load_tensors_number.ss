# expect: E0403 @6:28
data R:
    x: [3]

fn main():
    print(len(load_tensors(3, R)))
