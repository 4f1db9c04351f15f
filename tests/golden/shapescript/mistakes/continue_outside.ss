# expect: E1001 @3:5
fn main():
    continue
