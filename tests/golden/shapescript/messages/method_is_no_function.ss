model A:
    param w: [3] = zeros()

    fn cost(self, x: [3]) -> []:
        return mean(x * self.w)

fn f(m: A, x: [3]) -> ([], Grad[A]):
    v, g = value_and_grad(cost, m, x)
    return v, g

# says: `cost` is a method of `A`, and called as `m.cost(...)`
