# expect: E0201 @2:9
dim A = B + 1
