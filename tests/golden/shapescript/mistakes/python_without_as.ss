# expect: E1401 @5:9
import python m

fn f(x: [n]) -> [n]:
    y = m.g(x)
    return y
