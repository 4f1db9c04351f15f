# expect: E1904 @2:26
extern fn f(x: [b 2]) -> [2] = "m.f"
