# expect: E0403 @3:18
fn main():
    assert(true, 3)
