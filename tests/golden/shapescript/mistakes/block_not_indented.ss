# expect: E0111 @5:1
dim D = 4

fn f(x: [n D]) -> [n]:
y = x * 2.0
return sum(y, over=D)

fn g(x: [n D]) -> [n]:
    return f(x)
