# expect: E0403 @5:50
dim C = 3

fn f(x: [b C], y: [b] Index[C]) -> []:
    return cross_entropy(x, y, over=C, smoothing="a")
