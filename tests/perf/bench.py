#!/usr/bin/env python3
"""make bench: measures moxzi against its peers, in turn, in one run.

Prints one JSON line a row: {"name", "ours_us", "peer", "peer_us", "ratio"} with medians in
microseconds; `ratio` is the median of the pairwise ratios ours / peer; a row of ours that no peer
does has null for its peer. Rows of memory have `ours_bytes` and `peer_bytes`. A row that is to stay below
something has `limit` (of its ratio, or of ours where there is no peer) and `holds`. Every raw time goes
to build/bench/raw.jsonl. The row `control` is the same program twice: the noise of this run.

  bench.py --bin build/release/bin --deps .deps [--rounds 5] [ROW ...]

A row is a name or the start of one (`letters`). Peers that need building (burn) are built once under
the deps folder and reused.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import workloads

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))


def log(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Bench:
    def __init__(self, args):
        self.bin = os.path.abspath(args.bin)
        self.deps = os.path.abspath(args.deps)
        self.rounds = args.rounds
        self.wanted = args.rows
        self.printed = 0
        self.python = os.path.join(self.deps, "venv", "bin", "python")
        out = os.path.join(ROOT, "build", "bench")
        os.makedirs(out, exist_ok=True)
        self.raw = open(os.path.join(out, "raw.jsonl"), "w", encoding="utf-8")

    def selected(self, name):
        """True if the row is wanted, or some row of the group is (`letters` for `letters.http`)."""
        return not self.wanted or any(name.startswith(w) or w.startswith(name) for w in self.wanted)

    def program(self, *command, env=None, key="median_us"):
        """A peer as a command that prints one JSON object on a line and `key` in it."""

        def once():
            environment = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", **(env or {}))
            done = subprocess.run(command, capture_output=True, text=True, env=environment,
                                  timeout=600, check=False)
            lines = [x for x in done.stdout.splitlines() if x.startswith("{")]
            if done.returncode != 0 or not lines:
                raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-400:]}")
            return float(json.loads(lines[-1])[key])

        return once

    def compare(self, name, ours, peers, rounds=None, unit="us", limit=None):
        """Runs ours and each peer in turn, `rounds` times, and prints a row per peer; the ratio to
        each is to stay below the limit, if there is one."""
        if not self.selected(name):
            return
        log(f"{name} against {', '.join(label for label, _ in peers)}")
        times = {"ours": [], **{label: [] for label, _ in peers}}
        try:
            for _ in range(rounds or self.rounds):
                times["ours"].append(ours())
                for label, run in peers:
                    times[label].append(run())
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as why:
            log(f"{name} left out: {why}")
            return
        self.raw.write(json.dumps({"name": name, f"times_{unit}": times}) + "\n")
        self.raw.flush()
        for label, _ in peers:
            pairs = [a / b for a, b in zip(times["ours"], times[label])]
            self.row(name, statistics.median(times["ours"]), label,
                     statistics.median(times[label]), statistics.median(pairs), unit, limit)

    def row(self, name, ours, peer=None, peers=None, ratio=None, unit="us", limit=None):
        def rounded(value, digits):
            return None if value is None else round(value, digits)

        self.printed += 1
        fields = {"name": name, f"ours_{unit}": rounded(ours, 2), "peer": peer,
                  f"peer_{unit}": rounded(peers, 2), "ratio": rounded(ratio, 3)}
        if limit is not None:
            fields |= {"limit": limit, "holds": (ours if peer is None else ratio) <= limit}
        print(json.dumps(fields), flush=True)

    def rows_of(self, name, *command):
        """A program that prints its own rows: both sides, or ours alone where no peer does it."""
        if not self.selected(name):
            return
        log(f"{name} (its own rows)")
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            log(f"{name} left out: {done.stderr.strip()[-400:]}")
            return
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                self.raw.write(line + "\n")
                row = json.loads(line)
                self.row(*(row.get(key) for key in ("name", "ours_us", "peer", "peer_us", "ratio")))

    def burn(self):
        """The burn peers, built on first use (about six minutes); none without cargo's crates."""
        target = os.path.join(self.deps, "peers", "burn")
        program = os.path.join(target, "release", "burn_letters")
        if not os.path.exists(program):
            log("building burn (once, about six minutes)")
            with tempfile.TemporaryDirectory() as copy:
                subprocess.run(["cp", "-r", os.path.join(HERE, "peers", "burn_letters"), copy],
                               check=True)
                built = subprocess.run(["cargo", "build", "--release", "--quiet"],
                                       cwd=os.path.join(copy, "burn_letters"), check=False,
                                       env=dict(os.environ, CARGO_TARGET_DIR=target))
            if built.returncode != 0:
                log("burn could not be built; its rows are left out")
                return []
        return [("burn-flex", self.program(program, "flex", "2000")),
                ("burn-ndarray", self.program(program, "ndarray", "2000"))]

    def torch_model(self, model, steps, threads):
        """PyTorch's ways to train one of the models of torch_models.py."""
        script = os.path.join(HERE, "peers", "torch_models.py")
        ways = {"torch-eager": [], "torch-eager-fused": ["--fused"],
                "torch-compile": ["--fused", "--compile"]}
        return [(label, self.program(self.python, script, "--model", model, "--steps", str(steps),
                                     "--threads", str(threads), *flags))
                for label, flags in ways.items()]

    def jax_model(self, model, steps, threads):
        """The same in JAX, which is installed on first use; none where that fails."""
        python = os.path.join(self.deps, "peers", "venv", "bin", "python")
        installer = os.path.join(ROOT, "cmake", "deps", "install.sh")
        done = subprocess.run([installer, "--peers"], check=False,
                              env=dict(os.environ, MOXZI_DEPS=self.deps))
        if done.returncode != 0:
            log("JAX could not be installed; its rows are left out")
            return []
        script = os.path.join(HERE, "peers", "jax_models.py")
        return [("jax", self.program(python, script, "--model", model, "--steps", str(steps),
                                     "--threads", str(threads)))]

    def peer_programs(self):
        """Gives the path of a program of the peers, which are installed on first use."""
        installer = os.path.join(ROOT, "cmake", "deps", "install.sh")
        subprocess.run([installer, "--peers"], check=False,
                       env=dict(os.environ, MOXZI_DEPS=self.deps))
        return lambda name: os.path.join(self.deps, "peers", "venv", "bin", name)

    def torch_memory(self, model):
        """The most that a step of PyTorch's holds at a time, besides what stays."""
        script = os.path.join(HERE, "peers", "torch_models.py")
        return [("torch-eager-fused", self.program(self.python, script, "--model", model, "--fused",
                                                   "--memory", key="memory_bytes"))]

    def torch_letters(self):
        script = os.path.join(HERE, "peers", "eager_letters.py")
        return [("torch-eager", self.program(self.python, script)),
                ("torch-eager-fused", self.program(self.python, script, "--fused"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--deps", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("rows", nargs="*")
    bench = Bench(parser.parse_args())
    workloads.run(bench)
    if not bench.printed:
        log(f"no row of that name: {' '.join(bench.wanted)}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
