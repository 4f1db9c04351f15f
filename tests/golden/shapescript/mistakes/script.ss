# expect: E0110 @7:1
devices cpu

fn main():
    print("x")

m = 3
k = 4
print(m)
