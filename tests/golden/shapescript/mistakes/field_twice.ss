# expect: E0203 @4:5
data R:
    x: [3]
    x: [4]
