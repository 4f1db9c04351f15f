# expect: E0603 @3:5
fn main():
    log(step=1)
