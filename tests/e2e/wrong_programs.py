#!/usr/bin/env python3
"""Wrong programs over HTTP, through a Motoko actor: each is refused with its code, the operation's
number and name, and what was there; nothing changes; the next call works."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import LETTERS, Daemon, Folder  # noqa: E402

LAB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lab.mo")
TEXT = b"hello moxzi"
CONTEXT = len(TEXT) - 1

PROGRAM = [
    {"input": 0},
    {"narrow": {"x": 0, "dim": 1, "start": 0, "len": CONTEXT}},
    {"narrow": {"x": 0, "dim": 1, "start": 1, "len": CONTEXT}},
    {"reshape": {"x": 2, "shape": [CONTEXT]}},
    {"param": "embed"},
    {"embedding": {"table": 4, "ids": 1}},
    {"param": "head"},
    {"linear": {"x": 5, "w": 6}},
    {"reshape": {"x": 7, "shape": [CONTEXT, 128]}},
    {"cross_entropy": {"logits": 8, "targets": 3}},
]


def run(program=None, inputs=None, train="adam", loss=9, clip=None, also=None, scalars=(9,),
        tensors=()):
    text = {"data": "0x" + TEXT.hex(), "elem": "u8", "shape": [1, len(TEXT)]}
    return {"inputs": [text] if inputs is None else inputs,
            "program": PROGRAM if program is None else program,
            "train": train and {"loss": loss, "optimizer": train, "clip": clip, "lr": None,
                                "also": also},
            "scalars": list(scalars), "tensors": list(tensors)}


def with_op(at, op):
    return PROGRAM[:at] + [op] + PROGRAM[at + 1:]


def u8(data, shape):
    return {"data": "0x" + bytes(data).hex(), "elem": "u8", "shape": shape}


def optimizer(**changes):
    return {"name": "adam", "params": ["embed", "head"], "lr": 0.05, "beta1": 0.9, "beta2": 0.99,
            "eps": 1e-8, "weight_decay": 0.0, "kind": "adamw", **changes}


# What is sent, and what the message must contain: the code, where, and the values or shapes.
RUNS = [
    (run(with_op(5, {"embedding": {"table": 7, "ids": 1}})), "MXD010", ["program[5] embedding", "7"]),
    (run(with_op(9, {"cross_entropy": {"logits": 9, "targets": 3}})), "MXD010",
     ["program[9] cross_entropy"]),
    (run(with_op(7, {"linear": {"x": 1, "w": 6}})), "MXD012", ["program[7] linear"]),
    (run(with_op(7, {"linear": {"x": 5, "w": 3}})), "MXD01", ["program[7] linear"]),
    (run(with_op(9, {"cross_entropy": {"logits": 7, "targets": 3}})), "MXD011",
     ["program[9] cross_entropy", "[1, 10, 128]", "[10]"]),
    (run(with_op(3, {"reshape": {"x": 1, "shape": [CONTEXT]}})), None, []),
    (run(with_op(1, {"narrow": {"x": 0, "dim": 1, "start": 5, "len": 10}})), "MXD013",
     ["program[1] narrow", "11"]),
    (run(with_op(1, {"narrow": {"x": 0, "dim": 2, "start": 0, "len": 1}})), "MXD013",
     ["program[1] narrow"]),
    (run(with_op(8, {"reshape": {"x": 7, "shape": [CONTEXT, 127]}})), "MXD014",
     ["program[8] reshape", "[1, 10, 128]", "[10, 127]"]),
    (run(inputs=[u8([200] * 11, [1, 11])]), "MXD015", ["program[5] embedding", "200"]),
    (run(with_op(4, {"param": "nobody"})), "MXD020", ["program[4] param", "nobody"]),
    (run(with_op(0, {"input": 3})), "MXD0", ["program[0] input", "3"]),
    (run(train="nobody"), "MXD021", ["nobody"]),
    (run(inputs=[u8(TEXT[:-1], [1, 11])]), "MXD030", ["inputs[0]", "10", "11"]),
    (run(inputs=[]), "MXD0", ["program[0] input"]),
    (run(loss=8), "MXD040", ["[10, 128]"]),
    (run(loss=10), "MXD010", ["10"]),
    (run(also=["adam"]), "MXD041", ["embed"]),
    (run(scalars=[8]), "MXD0", ["[10, 128]"]),
    (run(scalars=[99]), "MXD010", ["99"]),
    (run(tensors=[99]), "MXD010", ["99"]),
    (run(clip=-1.0), "MXD03", ["clip"]),
    (run(program=[{"input": 0}] * 10_001, train=None, scalars=[]), "MXD063", ["10001", "10000"]),
]
OPTIMIZERS = [
    (optimizer(params=["embed", "nobody"]), "MXD020", ["nobody"]),
    (optimizer(lr=-1.0), "MXD03", ["lr"]),
    (optimizer(beta1=1.0), "MXD03", ["beta1"]),
    (optimizer(eps=0.0), "MXD03", ["eps"]),
    (optimizer(params=["embed", "embed"]), "MXD0", ["embed"]),
    (optimizer(name=""), "MXD03", ["name"]),
]
PARAMS = [
    ([{"name": "fine", "shape": [2], "init": {"normal": 1.0}},
      {"name": "", "shape": [2], "init": {"normal": 1.0}}], "MXD03", ["params[1]"]),
    ([{"name": "big", "shape": [65536, 65536], "init": {"normal": 1.0}}], "MXD0", ["params[0]"]),
    ([{"name": "deep", "shape": [1] * 9, "init": {"normal": 1.0}}], "MXD011", ["params[0]", "8"]),
    ([{"name": "bad", "shape": [2], "init": {"normal": -1.0}}], "MXD03", ["params[0]"]),
]


def refuse(daemon, method, argument, code, words):
    status, answer = daemon.call("lab", method, argument)
    assert status == 422, (method, code, status, answer)
    error = answer["error"]
    assert error["code"] == 4, (method, code, error)
    assert error["message"].startswith(code), (method, code, error)
    for word in words:
        assert word in error["message"], (method, code, word, error["message"])
    print(error["message"])


def parameters(daemon):
    reply = daemon.call("lab", "run", run(program=[{"param": "embed"}, {"param": "head"}], train=None,
                                          inputs=[], scalars=[], tensors=[0, 1]))
    assert reply[0] == 200, reply
    return reply[1][0]["tensors"]


def main():
    with Folder(sys.argv[1]) as folder:
        folder.build(LAB)
        folder.build(LETTERS)
        with Daemon(folder, "--device", "burn:cpu") as daemon:
            define = [{"name": n, "shape": [128, 4], "init": {"normal": 0.1}} for n in ("embed", "head")]
            assert daemon.call("lab", "params", define) == (200, []), "params"
            assert daemon.call("lab", "optimizer", optimizer()) == (200, []), "optimizer"
            before = parameters(daemon)
            for argument, code, words in RUNS:
                if code is None:
                    continue
                refuse(daemon, "run", argument, code, words)
                assert parameters(daemon) == before, (code, "changed the parameters")
            for argument, code, words in OPTIMIZERS:
                refuse(daemon, "optimizer", argument, code, words)
            for argument, code, words in PARAMS:
                refuse(daemon, "params", argument, code, words)
                assert daemon.call("lab", "run", run(program=[{"param": "fine"}], train=None,
                                                     scalars=[]))[0] == 422, "a params call half applied"
            assert parameters(daemon) == before
            status, first = daemon.call("lab", "run", run())
            assert status == 200, first
            status, second = daemon.call("lab", "run", run())
            assert status == 200 and second[0]["scalars"][0] < first[0]["scalars"][0], (first, second)
        with Daemon(folder) as daemon:
            status, answer = daemon.call("letters", "learn", 1)
            assert status == 422 and answer["error"]["message"].startswith("MXD001: "), answer
            assert "--device" in answer["error"]["message"], answer
            print(answer["error"]["message"])


if __name__ == "__main__":
    main()
