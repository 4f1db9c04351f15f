# expect: E0802 @3:14
model M:
    layer a: n * BatchNorm[4]
