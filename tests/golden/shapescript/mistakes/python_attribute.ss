# expect: E1401 @7:9
devices cpu

import python augment

fn main():
    k = augment.version
    print(k)
