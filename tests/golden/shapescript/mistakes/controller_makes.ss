# expect: E1803 @5:9
fn g(x: [n]) -> []:
    return sum(x)
fn main():
    x = zeros[3]
    print(g(x))
