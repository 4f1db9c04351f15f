# expect: E0502 @3:12
fn f(x: [b d]) -> [b d] Prob[b]:
    return softmax(x, over=d)
