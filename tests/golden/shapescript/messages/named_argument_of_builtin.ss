model M:
    param w: [] = zeros()

fn main():
    m = M()
    o = adamw(m, learning_rate=0.1)
    print(o)

# says: `adamw` takes `m`, `lr`, `beta1`, `beta2`, `eps` and `weight_decay`
