# expect: E0301 @8:9
dim A = 9
model Pairs[A]:
    param w: [A] = zeros()

    fn pairs(self) -> [A/2 2]:
        return self.w |> rearrange((k 2) -> k 2)
fn f(p: Pairs) -> []:
    return sum(p.pairs())
