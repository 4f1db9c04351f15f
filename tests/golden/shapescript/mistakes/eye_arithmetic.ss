# expect: E0501 @3:16
fn f(x: [n n]) -> [n n]:
    return x + eye[n n]
