# expect: E0805 @6:14
model A:
    layer b: B

model B:
    layer a: A
