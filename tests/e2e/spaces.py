#!/usr/bin/env python3
"""Two actors with parameters of the same name never see each other's: trained side by side they give
the digits that each gives alone."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import LETTERS, Daemon, Folder  # noqa: E402


def learn(daemon, name, rounds, out):
    out[name] = [daemon.call(name, "learn", 20) for _ in range(rounds)]


def main():
    names = ["ada", "bob"]
    with Folder(sys.argv[1]) as folder:
        folder.build(LETTERS, *names)
        alone, together = {}, {}
        for name in names:
            with Daemon(folder, "--device", "cpu") as daemon:
                learn(daemon, name, 4, alone)
        with Daemon(folder, "--device", "cpu") as daemon:
            threads = [threading.Thread(target=learn, args=(daemon, n, 4, together)) for n in names]
            for t in threads:
                t.start()
            for t in threads:
                t.join(120)
        assert all(status == 200 for name in names for status, _ in alone[name]), alone
        assert alone["ada"] != alone["bob"], "two actors draw different initial values"
        assert alone == together, (alone, together)
        print(alone)


if __name__ == "__main__":
    main()
