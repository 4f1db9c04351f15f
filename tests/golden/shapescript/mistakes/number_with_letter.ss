# expect: E0105 @2:9
fn f(x: 4n):
    pass
