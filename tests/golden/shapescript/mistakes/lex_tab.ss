# expect: E0102 @3:1
fn f(x: [n]) -> [n]:
	return x
