# expect: E0111 @7:1
devices cpu

dim D = 4
model Lin:

fn halve(mut m: Lin):
    m.w = m.w * 0.5 + m.c
