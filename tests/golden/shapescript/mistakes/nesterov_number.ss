# expect: E0403 @7:35
model M:
    param w: [3] = zeros()

fn main():
    m = M(seed=0)
    opt = sgd(m, lr=0.1, nesterov=1)
    print(opt)
