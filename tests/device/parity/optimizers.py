#!/usr/bin/env python3
"""Steps one parameter on a device and in torch.optim by the same gradients and compares it.

Every kind, with each of its settings, schedules, clipping and gathering among them, for 25 steps.
After each step every element must agree to a few units in the last place of an f32 for each step
taken, of the parameter or of what a step moves it, whichever is larger, plus ten times what PyTorch
in f32 is from PyTorch in f64. Muon computes in bfloat16, whose last place is 2^-8: there the
allowance is that of bfloat16. Lion, which torch.optim does not
have, is written here from its paper.

    optimizers.py --probe build/release/bin/moxzi_optimizer_probe --device cpu
"""

import argparse
import json
import random
import subprocess
import sys
import warnings

import torch
from torch.optim import lr_scheduler

STEPS = 25
F32_ULP = 2.0**-23
BF16_ULP = 2.0**-8
KINDS = "adamw adam sgd nesterov rmsprop adagrad lion adamax adafactor muon".split()


class Lion(torch.optim.Optimizer):
    """Chen et al., Symbolic Discovery of Optimization Algorithms (2023), algorithm 2."""

    def __init__(self, params, lr, betas, weight_decay):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            (beta1, beta2), lr = group["betas"], group["lr"]
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                update = torch.sign(beta1 * m + (1 - beta1) * p.grad)
                p -= lr * (update + group["weight_decay"] * p)
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


def optimizer_of(how, p):
    lr, betas = how["lr"], (how["beta1"], how["beta2"])
    decay = 0.0 if how["no_decay"] else how["weight_decay"]
    both = {"lr": lr, "weight_decay": decay}
    kind = how["kind"]
    if kind == "muon" and p.ndim != 2:
        kind = "adamw"
    if kind in ("adamw", "adam"):
        made = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[kind]
        return made([p], betas=betas, eps=how["eps"], amsgrad=how["amsgrad"], **both)
    if kind in ("sgd", "nesterov"):
        nesterov = kind == "nesterov" and betas[0] > 0
        return torch.optim.SGD([p], momentum=betas[0], nesterov=nesterov, **both)
    if kind == "rmsprop":
        return torch.optim.RMSprop([p], alpha=betas[1], momentum=betas[0], eps=how["eps"], **both)
    if kind == "adagrad":
        return torch.optim.Adagrad([p], eps=how["eps"], **both)
    if kind == "adamax":
        return torch.optim.Adamax([p], betas=betas, eps=how["eps"], **both)
    if kind == "adafactor":
        return torch.optim.Adafactor([p], eps=(how["eps"], 1e-3), **both)
    if kind == "muon":
        return torch.optim.Muon([p], momentum=betas[0], eps=how["eps"], **both)
    return Lion([p], betas=betas, **both)


def scheduler_of(how, optimizer):
    """The same schedule, put together from PyTorch's own."""
    s, lr = how["schedule"], how["lr"]
    if s["kind"] == "constant":
        return lr_scheduler.ConstantLR(optimizer, factor=1.0)
    if s["kind"] == "step":
        return lr_scheduler.StepLR(optimizer, s["every"], s["gamma"])

    def rising(steps):
        return lr_scheduler.LinearLR(optimizer, 1 / steps, 1.0, steps - 1)

    if s["kind"] == "warmup":
        return rising(s["steps"])
    length = s["total"] - s["warmup"]
    if s["kind"] == "cosine":
        falling = lr_scheduler.CosineAnnealingLR(optimizer, length, s["floor"])
    else:
        falling = lr_scheduler.LinearLR(optimizer, 1.0, s["floor"] / lr, length)
    if s["warmup"] == 0:
        return falling
    return lr_scheduler.SequentialLR(optimizer, [rising(s["warmup"]), falling], [s["warmup"]])


def in_torch(how, initial, gradients, dtype):
    p = initial.to(dtype, copy=True).requires_grad_()
    optimizer = optimizer_of(how, p)
    scheduler = scheduler_of(how, optimizer)
    after = []
    for parts in gradients:
        p.grad = None
        for part in parts:
            (p * part.to(dtype)).sum().backward()
        if how["clip_value"] is not None:
            torch.nn.utils.clip_grad_value_([p], how["clip_value"])
        if how["clip"] is not None:
            torch.nn.utils.clip_grad_norm_([p], how["clip"])
        optimizer.step()
        scheduler.step()
        after.append(p.detach().clone())
    return after


def random_choice(kind, source):
    schedules = [
        {"kind": "constant"},
        {"kind": "warmup", "steps": source.randint(2, 40)},
        {"kind": "step", "every": source.randint(1, 9), "gamma": source.choice([0.5, 0.9])},
    ]
    for ending in ("cosine", "linear"):
        warmup = source.choice([0, 2, 7])
        # CosineAnnealingLR rises again after its end, so that this is not before the last step.
        schedules.append({"kind": ending, "warmup": warmup, "total": STEPS + source.randint(0, 9), "floor": 1e-4})
    return {
        "kind": kind,
        "dims": source.choice([[1], [17], [400], [3, 5], [20, 33], [64, 10], [2, 3, 4]]),
        "lr": 10 ** source.uniform(-3, -1),
        "beta1": source.choice([0.0, 0.5, 0.9]),
        "beta2": source.choice([0.9, 0.99, 0.999]),
        "eps": source.choice([1e-8, 1e-6]),
        "weight_decay": source.choice([0.0, 0.01, 0.3]),
        "no_decay": source.random() < 0.2,
        "amsgrad": kind in ("adamw", "adam") and source.random() < 0.5,
        "schedule": source.choice(schedules),
        "clip": source.choice([None, None, 0.5]),
        "clip_value": source.choice([None, None, 0.7]),
        "parts": source.choice([1, 1, 3]),
    }


def hex_of(x):
    return x.contiguous().numpy().tobytes().hex()


def compare(how, initial, wanted, exact, answer):
    bf16 = how["kind"] == "muon" and len(how["dims"]) == 2
    rounding = 0.0
    for i, (b, c, text) in enumerate(zip(wanted, exact, answer["after"])):
        a = torch.frombuffer(bytearray.fromhex(text), dtype=torch.float32).reshape(b.shape)
        moved = how["lr"] * (8 if how["kind"] == "muon" else 1)
        size = torch.maximum(b.abs(), initial.abs()).clamp_min(moved)
        rounding = max(rounding, (b - c).abs().max().item())
        allowed = 8 * F32_ULP * (i + 1) * size + 10 * rounding
        if bf16:
            allowed = allowed + 2 * BF16_ULP * moved * (i + 1)
        worst = ((a - b).abs() / allowed).max().item()
        if not worst <= 1:
            return f"step {i}: {worst:.2f} times the allowed difference"
    return f"{len(answer['after'])} steps of {len(wanted)}" if len(answer["after"]) != len(wanted) else None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--probe", required=True, help="the moxzi_optimizer_probe program")
    arguments.add_argument("--device", default="reference")
    arguments.add_argument("--random", type=int, default=12, help="choices of each kind")
    arguments.add_argument("--random-seed", type=int, default=0)
    given = arguments.parse_args()
    warnings.filterwarnings("ignore")  # the schedulers warn of each other's ways
    torch.set_num_threads(1)
    source = random.Random(given.random_seed)
    torch.manual_seed(given.random_seed)
    asked, wanted = [], []
    for kind in KINDS:
        for _ in range(given.random):
            how = random_choice(kind, source)
            initial = torch.randn(how["dims"])
            gradients = [[torch.randn(how["dims"]) for _ in range(how["parts"])] for _ in range(STEPS)]
            sent = [[hex_of(part) for part in parts] for parts in gradients]
            asked.append(how | {"device": given.device, "initial": hex_of(initial), "gradients": sent})
            runs = [in_torch(how, initial, gradients, dtype) for dtype in (torch.float32, torch.float64)]
            wanted.append((how, initial, *runs))
    ran = subprocess.run([given.probe], input=json.dumps(asked), capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"probe failed: {ran.stderr.strip()}")
    failed = 0
    for (how, initial, after, exact), answer in zip(wanted, json.loads(ran.stdout), strict=True):
        problem = compare(how, initial, after, exact, answer)
        if problem:
            print(f"DIFFERS {problem}: {how}")
            failed += 1
    print(f"{len(wanted)} choices, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
