# expect: E0416 @7:16
model L:
    param w: [3] = zeros()
model M:
    layer a: 3 * L
fn f(m: M) -> [3]:
    return m.a[-1].w
