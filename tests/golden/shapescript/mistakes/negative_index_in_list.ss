# expect: E0505 @8:13
dim C = 3

fn g(x: [n] Index[C]) -> [n] i64:
    return x

fn main():
    print(g([0, -1]))
