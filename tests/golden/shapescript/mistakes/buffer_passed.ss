# expect: E0701 @7:11
model L:
    buffer c: [3] = zeros()
fn g(mut x: [3]):
    x = x + 1.0
fn f(mut l: L):
    g(mut l.c)
