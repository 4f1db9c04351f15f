# expect: E0301 @10:10
model Head[A]:
    param w: [A/2] = zeros()
fn size(h: Head[n], x: [n]) -> []:
    return sum(h.w)
fn make(x: [k], times: int):
    h = Head[k](seed=times)
    print(size(h, x))
fn main(x: [5]):
    make(x, 3)
