# expect: E0102 @3:1; E0201 @9:12
fn f(x: [n]) -> [n]:
	y = x
	for i in 0..3:
		y = y + 1.0
	z = y
	return z
fn g(x: [n]) -> [n]:
    return zork
