#!/usr/bin/env python3
"""A Motoko actor makes parameters in every way, trains them with a schedule and over gathered
gradients, and reads, writes, renames, lists and forgets them."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import Daemon, Folder  # noqa: E402

SHELF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shelf.mo")


def f32(values, shape=None):
    return {"data": "0x" + struct.pack(f"<{len(values)}f", *values).hex(), "elem": "f32",
            "shape": [len(values)] if shape is None else shape}


def numbers(tensor):
    raw = bytes.fromhex(tensor["data"][2:])
    kind = {"f32": "f", "f64": "d"}[tensor["elem"]]
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(kind)}{kind}", raw))


class Shelf:
    def __init__(self, daemon):
        self.daemon = daemon

    def ask(self, method, *arguments):
        status, answer = self.daemon.call("shelf", method, *arguments)
        assert status == 200, (method, answer)
        return answer[0] if answer else None

    def refused(self, method, *arguments):
        status, answer = self.daemon.call("shelf", method, *arguments)
        assert status == 422, (method, answer)
        return answer["error"]["message"]

    def read(self, name):
        return numbers(self.ask("read", [name], None, None)[0]["tensor"])

    def step(self, gradient, accumulate=False):
        n = len(gradient)
        return self.ask("run", {
            "inputs": [f32(gradient, [1, n])],
            "program": [{"param": "w"}, {"reshape": {"x": 0, "shape": [1, n]}}, {"input": 0},
                        {"linear": {"x": 2, "w": 1}}],
            "train": {"loss": 3, "optimizer": "o", "accumulate": accumulate,
                      "skip_nonfinite": True},
            "scalars": [], "tensors": []})


def check(shelf):
    def param(name, shape, init, **more):
        return {"name": name, "shape": shape, "init": init, "seed": None, "dtype": None, **more}

    shelf.ask("params", [
        param("w", [2], "ones"), param("e", [2, 3], "eye"),
        param("x", [4, 5], {"xavier_uniform": 1.0}, seed=7),
        param("o", [3, 3], {"orthogonal": 2.0}, dtype="f64"),
        param("t", [50], {"trunc_normal": {"std": 1.0, "cut": 0.5}})])
    assert shelf.read("e") == [1, 0, 0, 0, 1, 0]
    assert max(map(abs, shelf.read("x"))) <= (6 / 9) ** 0.5
    first = shelf.read("x")
    shelf.ask("params", [param("x", [4, 5], {"xavier_uniform": 1.0}, seed=7)])
    assert shelf.read("x") == first, "a seed makes the draw the same"
    rows = shelf.read("o")
    assert abs(sum(x * x for x in rows[:3]) - 4) < 1e-12, rows
    assert max(map(abs, shelf.read("t"))) <= 0.5
    why = shelf.refused("params", [param("h", [1], "ones", dtype="bf16")])
    assert why.startswith('MXD016: params[0] "h":'), why

    shelf.ask("optimizer", {"name": "o", "params": ["w"], "lr": 1.0, "beta1": 0.0, "beta2": 0.0,
                            "eps": 0.0, "weight_decay": 0.0, "kind": "sgd",
                            "schedule": {"warmup": {"steps": 2}}, "no_decay": None})
    assert shelf.step([1, 2], accumulate=True) == {"step": 0, "skipped": False}
    assert shelf.step([3, 4]) == {"step": 1, "skipped": False}  # at half the rate
    assert shelf.read("w") == [1 - 0.5 * 4, 1 - 0.5 * 6], shelf.read("w")
    assert shelf.step([float("inf"), 0]) == {"step": 1, "skipped": True}

    shelf.ask("write", [{"name": "w", "tensor": f32([5]), "start": 1}])
    assert shelf.read("w") == [-1, 5]
    part = shelf.ask("read", ["x"], 18, 2)[0]["tensor"]
    assert numbers(part) == first[18:] and part["shape"] == [2], part
    shelf.ask("rename", "w", "weight")
    listing = shelf.ask("list")
    assert [p["name"] for p in listing["params"]] == ["e", "o", "t", "weight", "x"], listing
    assert listing["optimizers"] == [{"name": "o", "params": ["weight"], "step": 1, "lr": 1.0}]
    assert "no parameter" in shelf.refused("read", ["w"], None, None)
    before = shelf.ask("info")["actor_bytes"]
    shelf.ask("forget", ["x"], None)
    assert shelf.ask("info")["actor_bytes"] == before - 20 * 4
    shelf.ask("forget", None, True)
    assert shelf.ask("list") == {"params": [], "optimizers": []}
    assert shelf.ask("info")["actor_bytes"] == 0


def main():
    with Folder(sys.argv[1]) as folder:
        folder.build(SHELF, "shelf")
        for kind in ("cpu", "reference"):
            with Daemon(folder, "--device", kind) as daemon:
                check(Shelf(daemon))
            print(kind, "agrees")


if __name__ == "__main__":
    main()
