# expect: E0701 @5:5
model L:
    buffer c: [] = zeros()
fn f(mut l: L):
    l.c = l.c + 1.0
