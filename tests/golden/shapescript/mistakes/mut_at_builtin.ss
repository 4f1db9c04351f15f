# expect: E0701 @3:21
fn f(x: [3]) -> [3]:
    return relu(mut x)
