# expect: E1901 @10:22
devices cpu[0 1]

import python augment

data Row:
    x: [4]

fn ranks(r: [b] Row) -> [b 4]:
    x = augment.blur(r.x) as [b 4]
    return sort(x, over=b)
