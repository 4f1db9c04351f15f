# expect: ok
model L:
    param w: [3] Pos = ones()
    param u: [] = 0.5
    buffer c: [3] Index[4] = full(3)
    buffer d: [2 2] Unit = eye()
    fn count(mut self):
        self.c = self.c
fn moved(x: [n d]) -> [d n] Prob[d]:
    return softmax(x, over=d) |> rearrange(n d -> d n)
fn merged(x: [b n d]) -> [b*n d] Prob[d]:
    return softmax(x, over=d) |> merge(b n d -> (b n) d)
fn rest(x: [b n d]) -> [n b d] Prob[d]:
    return softmax(x, over=d) |> rearrange(b n ... -> n b ...)
fn first(x: [n d]) -> [d] Prob[d]:
    return softmax(x, over=d)[0]
fn turned(x: [n d]) -> [n d] Prob[d]:
    return softmax(x, over=d) |> flip(over=n)
fn joined(x: [n d], y: [m d]) -> [n+m d] Prob[d]:
    return concat(softmax(x, over=d), softmax(y, over=d), along=n)
fn reduced(x: [b d]) -> [b] NonNeg:
    return reduce(relu(x): b d -> b, by="sum")
fn total(x: [n]) -> []:
    return sum(x)
fn made() -> []:
    return moved(zeros[2 3]) |> sum
fn main():
    print(made(), total(ones[3]))
