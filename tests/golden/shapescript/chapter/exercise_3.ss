devices cuda[0 1 2]
    split H

dim H = 8
