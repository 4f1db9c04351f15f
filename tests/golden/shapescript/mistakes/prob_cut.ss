# expect: E0502 @3:12
fn f(x: [n d]) -> [n 2] Prob[d]:
    return softmax(x, over=d)[d=0..2]
