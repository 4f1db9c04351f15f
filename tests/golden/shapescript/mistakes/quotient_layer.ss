# expect: E0301 @7:17
model Inner[A]:
    param w: [A/2] = zeros()
model Outer[B C]:
    layer a: Inner[C/3]
    layer b: Inner[B]
fn f(m: Outer[4 9]) -> []:
    return sum(m.b.w)
