# expect: E0302 @4:11
model L[A B]:
    param w: [B A-3] = zeros()
fn f(m: L[3 7]) -> []:
    return sum(m.w)
