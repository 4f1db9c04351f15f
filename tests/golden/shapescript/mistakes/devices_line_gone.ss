# expect: E0103 @2:5
    shard params

dim A = 3
