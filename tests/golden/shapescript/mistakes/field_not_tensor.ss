# expect: E0901 @4:8
data R:
    x: [3]
    n: int
