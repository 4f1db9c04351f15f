#!/usr/bin/env python3
"""Runs the ```console blocks of a page: each `$ command` must print what stands below it (stdout and
stderr together), in the current folder. With --update the page gets what was printed."""

import subprocess
import sys


def run(command):
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, check=False)
    return done.stdout.splitlines()


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    out, inside = [], False
    for line in lines:
        if line.startswith("```"):
            inside = line == "```console"
        if not inside or line.startswith(("```", "$ ")):
            out.append(line)
        if inside and line.startswith("$ "):
            out += run(line[2:])
    if sys.argv[2:] == ["--update"]:
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(out) + "\n")
        return 0
    for n, (is_now, was) in enumerate(zip(out, lines), 1):
        if is_now != was:
            print(f"{path}:{n}: the page says\n  {was}\nbut it is\n  {is_now}")
            return 1
    if len(out) != len(lines):
        print(f"{path}: {len(lines)} lines, {len(out)} when run")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
