# expect: E1901 @10:25
devices cpu[0 1]

import python augment

data Row:
    x: [4]

fn blurred(r: [b] Row) -> [b 4]:
    return augment.blur(r.x) as [b 4]

fn half(r: [b] Row) -> [b 4]:
    return blurred(r) * 0.5
