#!/usr/bin/env python3
"""Trains one model on a device and in PyTorch from the same initial tensors and compares the losses.

The model is that of the first page (embedding, linear, cross entropy) with any text, size, learning
rate, decay, betas and clip. The first 20 losses must agree to 1e-5 relative where the learning rate
is at most 0.1; all losses must agree within 10 times the difference of PyTorch from itself when the
rows are taken in another order, which is what rounding alone may do. A loss is the difference of
numbers as large as the logits, and an f32 itself: two units in the last place of the loss or of
the largest logit count as nothing. It matters when the loss is almost zero, and at the first steps, where
PyTorch may agree with itself to the bit.

    parity.py --probe build/release/bin/moxzi_device_probe --device cpu --lr 0.1 --text "any text"
    parity.py --probe … --random 5 --random-seed 1
"""

import argparse
import json
import random
import subprocess
import sys

import torch

FIRST_STEPS = 20
FIRST_RELATIVE = 1e-5
FIRST_LR_MAX = 0.1
SELF_FACTOR = 10
PERMUTATIONS = 3
F32_ULP = 2.0**-23


def probe(path, choice):
    ran = subprocess.run([path], input=json.dumps(choice), capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"probe failed: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def tensors_of(answer, choice):
    width = choice["width"]
    shapes = {"embed": (256, width), "head": (256, width), "bias": (256,)}
    out = {}
    for name, text in answer["initial_hex"].items():
        raw = bytearray.fromhex(text)
        out[name] = torch.frombuffer(raw, dtype=torch.float32).reshape(shapes[name]).clone()
    return out


def train_in_torch(initial, choice, order_seed=None):
    params = {name: value.clone().requires_grad_() for name, value in initial.items()}
    kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[choice["kind"]]
    optimizer = kind(
        list(params.values()),
        lr=choice["lr"],
        betas=(choice["beta1"], choice["beta2"]),
        eps=choice["eps"],
        weight_decay=choice["weight_decay"],
    )
    raw = torch.tensor(list(bytes.fromhex(choice["text_hex"]))).reshape(choice["rows"], -1)
    ids, targets = raw[:, :-1].reshape(-1), raw[:, 1:].reshape(-1)
    if order_seed is not None:
        order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(order_seed))
        ids, targets = ids[order], targets[order]
    losses, norms, units = [], [], []
    for _ in range(choice["steps"]):
        x = torch.nn.functional.embedding(ids, params["embed"])
        y = torch.nn.functional.linear(x, params["head"], params.get("bias"))
        loss = torch.nn.functional.cross_entropy(y, targets)
        optimizer.zero_grad()
        loss.backward()
        if choice["clip"] >= 0:
            norms.append(torch.nn.utils.clip_grad_norm_(params.values(), choice["clip"]).item())
        optimizer.step()
        losses.append(loss.item())
        units.append(2 * F32_ULP * max(1.0, loss.item(), y.abs().max().item()))
    return losses, norms, units


def compare(path, choice, quiet):
    answer = probe(path, choice)
    initial = tensors_of(answer, choice)
    ours = answer["losses"]
    theirs, norms, units = train_in_torch(initial, choice)
    runs = [train_in_torch(initial, choice, seed) for seed in range(PERMUTATIONS)]
    shuffled = [run[0] for run in runs]

    problems = []
    allowed = 0.0
    print(f"{'step':>5} {'device':>14} {'torch':>14} {'relative':>10} {'torch-self':>10}")
    for i, (a, b) in enumerate(zip(ours, theirs)):
        relative = abs(a - b) / max(abs(b), 1e-30)
        # What rounding did to PyTorch so far.
        own = max(abs(other[i] - b) for other in shuffled)
        allowed = max(allowed, own, units[i] / SELF_FACTOR)
        if not quiet or i < 3 or i == len(ours) - 1:
            print(f"{i:5} {a:14.8f} {b:14.8f} {relative:10.2e} {own:10.2e}")
        if i < FIRST_STEPS and choice["lr"] <= FIRST_LR_MAX:
            if not abs(a - b) <= max(FIRST_RELATIVE * abs(b), units[i]):
                problems.append(f"step {i}: {a} and {b} differ by {relative:.2e} relative")
        elif not abs(a - b) <= SELF_FACTOR * allowed:
            problems.append(
                f"step {i}: {a} and {b} differ by {abs(a - b):.2e}, PyTorch from itself by {allowed:.2e}"
            )
    # A gradient is a difference of probabilities: where the loss is almost zero it is mostly rounding.
    for i, (a, b) in enumerate(zip(answer["grad_norms"], norms)):
        own = max(abs(run[1][i] - b) for run in runs)
        small = max(1e-4 * abs(b), SELF_FACTOR * own, units[i] * len(choice["text_hex"]))
        if i < FIRST_STEPS and choice["lr"] <= FIRST_LR_MAX and not abs(a - b) <= small:
            problems.append(f"step {i}: gradient norms {a} and {b}")
    if len(ours) != len(theirs):
        problems.append(f"{len(ours)} losses, {len(theirs)} in PyTorch")
    return problems


def random_choice(base, source):
    rows, length = source.choice([1, 1, 2, 5]), source.randint(1, 90)
    text = bytes(source.randrange(256) for _ in range(rows * (length + 1)))
    return base | {
        "text_hex": text.hex(),
        "rows": rows,
        "width": source.choice([1, 2, 7, 16, 33, 64]),
        "lr": 10 ** source.uniform(-4, -0.7),
        "beta1": source.choice([0.0, 0.5, 0.9, 0.95]),
        "beta2": source.choice([0.9, 0.99, 0.999]),
        "eps": source.choice([1e-8, 1e-6]),
        "weight_decay": source.choice([0.0, 0.01, 0.3]),
        "clip": source.choice([-1.0, 0.05, 1.0]),
        "kind": source.choice(["adamw", "adam"]),
        "bias": source.random() < 0.5,
        "seed": source.randrange(1 << 31),
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--probe", required=True, help="the moxzi_device_probe program")
    arguments.add_argument("--device", default="reference")
    arguments.add_argument("--text", default="hello moxzi, hello actors, hello tensors on a device. hello again")
    arguments.add_argument("--text-file", help="bytes of this file instead of --text")
    arguments.add_argument("--rows", type=int, default=1, help="texts side by side")
    arguments.add_argument("--width", type=int, default=16, help="size of the embedding")
    arguments.add_argument("--steps", type=int, default=200)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--deviation", type=float, default=0.1)
    arguments.add_argument("--lr", type=float, default=0.05)
    arguments.add_argument("--beta1", type=float, default=0.9)
    arguments.add_argument("--beta2", type=float, default=0.99)
    arguments.add_argument("--eps", type=float, default=1e-8)
    arguments.add_argument("--weight-decay", type=float, default=0.0)
    arguments.add_argument("--clip", type=float, default=-1.0, help="below 0: none")
    arguments.add_argument("--kind", choices=["adamw", "adam"], default="adamw")
    arguments.add_argument("--bias", action="store_true")
    arguments.add_argument("--random", type=int, default=0, help="this many random choices instead")
    arguments.add_argument("--random-seed", type=int, default=0)
    arguments.add_argument("--quiet", action="store_true", help="only the first and last losses")
    given = vars(arguments.parse_args())

    torch.set_num_threads(1)
    path, quiet = given.pop("probe"), given.pop("quiet")
    count, source = given.pop("random"), random.Random(given.pop("random_seed"))
    text, file = given.pop("text").encode(), given.pop("text_file")
    if file:
        with open(file, "rb") as opened:
            text = opened.read()
    text = text[: len(text) // given["rows"] * given["rows"]]
    base = given | {"text_hex": text.hex()}
    failed = 0
    for choice in [random_choice(base, source) for _ in range(count)] if count else [base]:
        print({key: value for key, value in choice.items() if key != "text_hex"})
        problems = compare(path, choice, quiet)
        for problem in problems[:5]:
            print("DIFFERS", problem)
        print("DIFFERS" if problems else "AGREES")
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
