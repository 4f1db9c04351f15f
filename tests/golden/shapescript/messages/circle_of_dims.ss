dim A = B
dim B = C
dim C = A

# says: `A` is defined by itself
# says: by way of this one
