# expect: E0301 @7:24
fn halves(x: [n]) -> [n/2 2]:
    return x |> rearrange((h 2) -> h 2)
fn between(x: [m], y: [k]) -> [m/2 2]:
    return halves(x) + sum(y)
fn f(x: [6], y: [7]) -> []:
    return sum(between(y, x)) + sum(between(x, y))
