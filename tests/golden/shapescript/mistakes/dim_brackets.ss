# expect: E0301 @3:9
dim A = 4
dim B = (A + 1) / (A - 1)
