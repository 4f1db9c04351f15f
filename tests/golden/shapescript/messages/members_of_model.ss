model Linear:
    param w: [3] = zeros()

    fn forward(self, x: [3]) -> [3]:
        return x * self.weight

# says: `Linear` is declared here
# says: `Linear` has `w` and `forward`
