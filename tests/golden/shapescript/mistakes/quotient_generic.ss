# expect: E0301 @7:14
model Head[A]:
    param w: [A A/2] = zeros()

    fn forward(self, x: [n A]) -> [n A/2]:
        return x @ self.w
fn f(h: Head[5], x: [n 5]) -> [n 2]:
    return h.forward(x)
