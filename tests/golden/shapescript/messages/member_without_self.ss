model Lin:
    param w: [3] = zeros()

    fn forward(self, x: [3]) -> [3]:
        return x * w

# says: `w` is a member of `Lin`: write `self.w`
