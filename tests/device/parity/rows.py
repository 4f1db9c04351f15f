#!/usr/bin/env python3
"""Every row of the table of operations against PyTorch.

Reads what moxzi_device_rows prints: random calls with their results and gradients. Each row says
how PyTorch computes the same; values, shapes, types and the gradients of the sum of the result
times given weights are compared.
"""
import argparse
import collections
import json
import keyword
import math
import subprocess
import sys
import warnings

import numpy
import torch
import torch.nn.functional as functional

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
         "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8, "bool": torch.bool}
STORED = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "i64": "<i8", "i32": "<i4", "i16": "<i2",
          "i8": "i1", "u8": "u1", "u16": "<u2", "u32": "<u4", "bool": "u1", "bf16": "<u2"}
# One rounding, relative to 1 or to the number where that is larger.
ROUNDING = {"f32": 2e-6, "f64": 1e-12, "f16": 2e-3, "bf16": 1.6e-2}


def tensor_of(what):
    flat = numpy.frombuffer(bytes.fromhex(what["hex"]), STORED[what["elem"]])
    if what["elem"] == "bf16":
        flat = (flat.astype(numpy.uint32) << 16).view(numpy.float32)
    elif what["elem"] == "bool":
        flat = flat.astype(bool)
    elif what["elem"] in ("u16", "u32"):
        flat = flat.astype(numpy.int64)
    return torch.tensor(flat.copy()).reshape(what["shape"])


def like(number, x):
    """A number attribute as an integer where x is of integers."""
    return number if number is None or x.is_floating_point() else int(number)


def attention(q, k, v, causal, mask, scale, window, kv_heads):
    queries, keys = q.shape[-2], k.shape[-2]
    i, j = torch.arange(queries)[:, None], torch.arange(keys)[None, :]
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if causal:
        seen &= j <= i
    if window is not None:
        seen &= (i - j).abs() < window
    if mask is not None and mask.dtype != torch.bool:
        seen = torch.zeros((), dtype=q.dtype).where(seen, -math.inf) + mask
    elif mask is not None:
        seen = seen & mask
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=scale,
                                                   enable_gqa=kv_heads is not None)


def group_norm(x, groups, w, b, eps):
    """PyTorch's own takes both weights or none, and no batch of one sample and channel."""
    plain = functional.group_norm(torch.cat((x, x)), groups, eps=eps)[:len(x)]
    channels = (-1,) + (1,) * (x.dim() - 2)
    plain = plain if w is None else plain * w.reshape(channels)
    return plain if b is None else plain + b.reshape(channels)


def batch_norm(x, w, b, eps, train):
    channels = (-1,) + (1,) * (x.dim() - 2)
    zeros = torch.zeros(x.shape[1], dtype=x.dtype)
    plain = x
    if x.numel() > 0:
        plain = functional.batch_norm(x, zeros, zeros + 1, training=bool(train), eps=eps)
    plain = plain if w is None else plain * w.reshape(channels)
    return plain if b is None else plain + b.reshape(channels)


def rope(x, base, start, interleaved):
    pairs = x.shape[-1] // 2
    rates = (base or 10000.0) ** (-torch.arange(pairs, dtype=torch.float64) / max(pairs, 1))
    angles = (torch.arange(x.shape[-2], dtype=torch.float64) + (start or 0))[:, None] * rates
    turns = torch.polar(torch.ones_like(angles), angles)
    wide = x.double()
    if interleaved:
        a, b = wide[..., 0::2], wide[..., 1::2]
    else:
        a, b = wide[..., :pairs], wide[..., pairs:]
    turned = torch.complex(a, b) * turns
    if interleaved:
        return torch.stack((turned.real, turned.imag), -1).flatten(-2).to(x.dtype)
    return torch.cat((turned.real, turned.imag), -1).to(x.dtype)


def every(dims, x):
    """The dimensions to reduce."""
    return tuple(range(x.dim())) if dims is None else tuple(dims)


def one_by_one(function, x, dims, keep):
    """Reduces dimension by dimension what PyTorch does so only."""
    if x.dim() == 0:
        return function(x)
    for dim in reversed(sorted(every(dims, x))):
        x = function(x, dim, keepdim=bool(keep))
    return x


def recurrent(kind, x, w_ih, w_hh, b_ih, b_hh, h0, c0, reverse, out):
    """PyTorch's cells, one step after the other."""
    step = getattr(torch._VF, kind + "_cell")
    zeros = x.new_zeros(x.shape[0], w_hh.shape[1])
    h, c = zeros if h0 is None else h0, zeros if c0 is None else c0
    places = list(range(x.shape[1]))
    states = [None] * len(places)
    for t in reversed(places) if reverse else places:
        if kind == "lstm":
            h, c = step(x[:, t], (h, c), w_ih, w_hh, b_ih, b_hh)
        else:
            h = step(x[:, t], h, w_ih, w_hh, b_ih, b_hh)
        states[t] = h
    if out in ("last", "cell"):
        return h if out == "last" else c
    return torch.stack(states, 1)


def wrong_numbers(got, names):
    """Of what is drawn only the kind can be told."""
    if list(got.shape) != list(names["shape"]):
        return f"shape {list(got.shape)}"
    if isinstance(names["kind"], float):
        return None if ((got == 0) | (got == 1)).all() else "not 0 or 1"
    if names["kind"] == 0 and not ((got >= 0) & (got < 1)).all():
        return "not from 0 to below 1"
    return None


def wrong_classes(got, names):
    """Each class that was drawn is one that may be."""
    logits = names["logits"].detach().double()
    if list(got.shape) != list(logits.shape[:-1]):
        return f"shape {list(got.shape)}"
    temperature = 1 if names["temperature"] is None else names["temperature"]
    if temperature == 0:
        likeliest = logits.gather(-1, got[..., None])[..., 0] == logits.amax(-1)
        return None if likeliest.all() else "not the likeliest"
    shares, order = torch.softmax(logits / temperature, -1).sort(dim=-1, descending=True, stable=True)
    if names["top_k"] is not None:
        shares[..., names["top_k"]:] = 0
    if names["top_p"] is not None:
        before = shares.cumsum(-1) - shares
        out = before > names["top_p"] * shares.sum(-1, keepdim=True) + 1e-9
        out[..., 0] = False
        shares = shares.masked_fill(out, 0)
    picked = (order == got[..., None]).double()
    return None if ((picked * shares).sum(-1) > 0).all() else "a class that may not be drawn"


# Rows whose results are random: what is wrong with one, or None.
DRAWN = {"random": wrong_numbers, "categorical": wrong_classes}


class Call:
    def __init__(self, line):
        self.what = json.loads(line)
        self.leaves = {}

    def operand(self, what):
        if what is None:
            return None
        if isinstance(what, list):
            return [self.operand(one) for one in what]
        value = tensor_of(what)
        if "parameter" in what:
            self.leaves[what["parameter"]] = value.requires_grad_()
        return value.to(TYPES[what["type"]])

    def names(self):
        found = {"torch": torch, "F": functional, "math": math, "like": like, "every": every,
                 "one_by_one": one_by_one, "attention": attention, "rope": rope,
                 "group_norm": group_norm, "recurrent": recurrent, "batch_norm": batch_norm}
        for name, what in self.what["operands"].items():
            found[name + "_" * keyword.iskeyword(name)] = self.operand(what)
        for name, value in self.what["attributes"].items():
            if isinstance(value, str) and value in TYPES and name in ("to", "dtype"):
                value = TYPES[value]
            found[name + "_" * keyword.iskeyword(name)] = value
        return found

    def complaint(self):
        """What differs, or None."""
        if self.what["row"] in DRAWN:
            return DRAWN[self.what["row"]](tensor_of(self.what["result"]), self.names())
        wanted = eval(self.what["pytorch"], self.names())
        got = tensor_of(self.what["result"])
        if self.what["result"]["elem"] in TYPES and TYPES[self.what["result"]["elem"]] != wanted.dtype:
            return f"{self.what['result']['elem']}, but PyTorch has {wanted.dtype}"
        if wrong := self.differs(got, wanted, 1):
            return wrong
        if "gradients" not in self.what or not wanted.requires_grad:
            return None
        weights = tensor_of(self.what["weights"]).to(wanted.dtype)
        (wanted * weights).sum().backward()
        for name, leaf in self.leaves.items():
            expected = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
            mine = self.what["gradients"].get(name)
            value = torch.zeros_like(leaf) if mine is None else tensor_of(mine)
            if wrong := self.differs(value, expected, 8):
                return f"gradient of {name}: {wrong}"
        return None

    def differs(self, got, wanted, times):
        wanted = wanted.detach()
        if list(got.shape) != list(wanted.shape):
            return f"shape {list(got.shape)}, but PyTorch has {list(wanted.shape)}"
        # The least exact type on the way decides.
        types = {one["type"] for one in self.flat_operands()} | {self.what["result"]["elem"]}
        allowed = max(ROUNDING.get(one, 0) for one in types) * self.what["tolerance"] * times
        got, wanted = got.double().flatten(), wanted.double().flatten()
        same = (got == wanted) | (got.isnan() & wanted.isnan())
        far = (got - wanted).abs() / wanted.abs().clamp(min=1)
        wrong = ~same & ~(far <= allowed)
        if not wrong.any():
            return None
        at = int(wrong.nonzero()[0])
        return f"element {at} is {got[at].item()!r}, but PyTorch has {wanted[at].item()!r}"

    def flat_operands(self):
        for one in self.what["operands"].values():
            yield from (x for x in (one if isinstance(one, list) else [one]) if x)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", required=True, help="the moxzi_device_rows program")
    options.add_argument("--device", default="cpu")
    options.add_argument("--rounds", default="20")
    options = options.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of means of nothing and the like
    source = subprocess.Popen([options.rows, options.device, options.rounds],
                              stdout=subprocess.PIPE, text=True)
    calls, wrong = collections.Counter(), collections.defaultdict(list)
    for line in source.stdout:
        call = Call(line)
        calls[call.what["row"]] += 1
        try:
            complaint = call.complaint()
        except Exception as error:  # PyTorch's own refusals are complaints too
            complaint = f"{type(error).__name__}: {error}"
        if complaint:
            wrong[call.what["row"]].append(f"{call.what['call']} {call.what['attributes']}: {complaint}")
    for row, complaints in sorted(wrong.items()):
        print(f"{row}: {len(complaints)} of {calls[row]} calls differ")
        for complaint in complaints[:3]:
            print(f"  {complaint}")
    print(f"{len(calls)} rows, {sum(calls.values())} calls, {sum(map(len, wrong.values()))} differ")
    return 1 if wrong or source.wait() != 0 or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
