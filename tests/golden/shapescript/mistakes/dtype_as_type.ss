# expect: E0202 @2:9
fn f(x: f32) -> []:
    return 1.0
