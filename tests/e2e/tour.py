#!/usr/bin/env python3
"""Two actors that do what a Motoko actor may do, and what must come of it by the Internet Computer's
interface specification.   tour.py BIN"""

import os
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import ROOT, Daemon, Folder, wait_until  # noqa: E402

SOURCES = os.path.join(ROOT, "tests", "e2e", "tour")

# Method, arguments, and the beginning of what it answers.
VISITOR = [
    ("rejected", [], ["reject: no"]),
    ("trapped", [], "error: Canister {id} trapped: oh"),
    ("divided", [], "error: Canister {id} trapped: "),
    ("nobody", [], "destination: "),
    ("no_method", [], "error: "),
    ("no_management", [], "reject: "),
    ("misread", [], "error: Canister {id} trapped: IDL error: "),
    ("blocks", [], ["reject: in a block", "#canister_error"]),
    ("finals", [], ["fcs12"]),
    ("deadlines", [], [True, False]),
    ("called_back", [], [42]),
    ("self_called", [], [True]),
    ("chain", [200], [200]),
    # 500 calls may be open; the timers take some of them now and then.
    ("fan", [480], ["229_920"]),
    ("fan", [501], ["call 2: could not perform remote call"]),
    ("order", [], ["abc"]),
    ("raw", [], [8]),
    ("said", [], [1]),
    ("gives", [], [[100, 30], 70]),
    ("gives_all", [], [[100, 100], 0]),
    ("counters", [], [True, True]),
    ("versions", [], [True]),
    ("random", [], [32, True]),
    ("certify", [32], [True]),
    ("variables", [], [["PUBLIC_CANISTER_ID:parent", "PUBLIC_CANISTER_ID:visitor"]]),
    ("controls", [], [False, True]),
    ("region_grows", [], [0, 3, 77]),
    ("region_limit", [], [True]),
    ("dive", [10_000], [10_000]),
    ("hold", [30], [30]),
    ("release", [], [0]),
    ("waits", [], "unknown: "),
]
# Method, arguments, error code: what does not come back as a reply.
FAILING = [
    ("certify", [33], "MX504"),
    ("region_beyond", [], "MX503"),
    ("dive", [1_000_000], "MX502"),
    ("take_and_trap", [], "MX503"),
    ("hold", [2_000], "MX539"),
]
PARENT = [
    ("make", [0], ["#canister_reject"]),
    ("make", [2_000_000_000_000], ["made"]),
    ("inc", [], ["1"]),
    ("deposit", [1_000], [0]),
    ("versioned", [0], ["set"]),
    ("versioned", [1], ["#canister_error"]),
    ("keep", [], []),
    ("inc", [], ["2"]),
    ("back", [], []),
    ("get", [], ['("a", 1)']),
    ("upgrade", [], ['("c!", +1)']),
    ("replace", [], ['("c!", 0)']),
    ("reinstall", [], ['("d", 0)']),
    ("inc", [], ["1"]),
    ("delete", [], ["#canister_error"]),
    ("stop", [], ["stopped"]),
    ("inc", [], ["#canister_error"]),
    ("start", [], ["started"]),
    ("inc", [], ["2"]),
    ("asked", [], [0]),
]
LAST = [
    ("uninstall", [], ["empty"]),
    ("inc", [], ["#canister_error"]),
    ("back", [], []),
    ("inc", [], ["2"]),
    ("stop", [], ["stopped"]),
    ("delete", [], ["deleted"]),
    ("inc", [], ["#destination_invalid"]),
    ("stop", [], ["#destination_invalid"]),
    ("install", [], ['("b", 0)']),
]


def walk(daemon, actor, rows):
    for method, arguments, wanted in rows:
        status, answer = daemon.call(actor, method, *arguments)
        assert status == 200, (method, arguments, answer)
        if isinstance(wanted, str):
            wanted = wanted.replace("{id}", daemon.id)
            assert answer[0].startswith(wanted), (method, arguments, answer)
        else:
            assert answer == wanted, (method, arguments, answer)


def main():
    with Folder(sys.argv[1]) as folder:
        for name in ("visitor", "parent"):
            folder.build(os.path.join(SOURCES, f"{name}.mo"))
        with Daemon(folder, "--cycles", "100000000000000", "--heap-mb", "512") as daemon:
            daemon.id = next(line.split()[1] for line in daemon.lines if line.startswith("visitor "))
            assert daemon.call("visitor", "start")[0] == 200
            walk(daemon, "visitor", VISITOR)
            with urllib.request.urlopen(f"{daemon.url}/actors/visitor/logs") as logs:
                assert b"no callback" not in logs.read(), "a one-way call looks like a trap"
            for method, arguments, code in FAILING:
                status, answer = daemon.call("visitor", method, *arguments)
                assert status == 422 and answer["error"]["error_code"] == code, (method, answer)
            assert daemon.query("visitor", "spin")[1]["error"]["error_code"] == "MX522"
            wait_until(lambda: daemon.query("visitor", "ticked")[1] == [1, 5, 0, 11, 0], 30, "timers")
            walk(daemon, "parent", PARENT)
            status, answer = daemon.query("parent", "looks")
            assert (status, answer) == (200, [True, ["d", 2]]), answer
            for method in ("draws", "stops"):
                assert daemon.query("parent", method) == (200, ["#canister_error"]), method
            assert daemon.call("parent", "asked")[1] == [1]
            walk(daemon, "parent", LAST)
    print("tour", len(VISITOR) + len(FAILING) + len(PARENT) + len(LAST) + 5)


if __name__ == "__main__":
    main()
