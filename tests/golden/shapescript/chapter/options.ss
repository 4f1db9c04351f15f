devices cuda[0 1 2]
    shard params    # split parameters and optimizer state across the GPUs, for models too big for one
    split H         # split every parameter axis named H across the GPUs, such as attention heads

dim H = 12
