# expect: E0202 @2:19
fn f(mut o: AdamW[Mlp]):
    pass
