# expect: E0302 @6:11
model L[A]:
    param w: [A-3] = zeros()
model M[B]:
    layer a: L[B-2]
fn f(m: M[5]) -> []:
    return sum(m.a.w)
