# expect: ok
# What Python returns need not be known where it is thrown away.
devices cpu

import python os.path as files
import python tracker

data Row:
    x: [4]

fn score(r: [b] Row) -> []:
    return mean(r.x)

fn main(path: str):
    tracker.init(name="run")
    seen = 0
    worst = 0.0
    for r in load_tensors("a.safetensors", Row) |> batches(4, last="keep"):
        l = score(r)
        if float(l) > worst:
            worst = float(l)
        tracker.log(l)
        seen += 1
    if files.exists(path) as bool and seen > 3:
        print(worst, files.size(path) as int + 1)
    tracker.finish()
