# expect: E0202 @2:17
fn f(x: [n] f32 bf16) -> [n]:
    return x
