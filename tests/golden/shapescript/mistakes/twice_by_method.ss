# expect: E0703 @11:12
dim D = 4

model Lin:
    param w: [D] = zeros()

    fn take(mut self, other: Lin):
        self.w = other.w

fn f(mut m: Lin):
    m.take(m)
