# expect: E0302 @5:41
dim C = 12

fn f(x: [b C]) -> [b C]:
    return group_norm(x, over=C, groups=0)
