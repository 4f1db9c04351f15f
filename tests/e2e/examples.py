#!/usr/bin/env python3
"""The examples of hosting, as their pages say: an actor that makes actors, a timer, two actors that
call each other, an upgrade that keeps its data."""

import os
import signal
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import ROOT, Daemon, Folder, wait_until  # noqa: E402


def example(*parts):
    return os.path.join(ROOT, "examples", *parts)


def ask(daemon, actor, method, *arguments):
    status, answer = daemon.call(actor, method, *arguments)
    assert status == 200, (actor, method, answer)
    return answer


def workers(bin_folder):
    """Each worker's loss follows 7.5 (w - 3)^2 with a step of its own: closed form."""
    rates = [0.01, 0.05]
    with Folder(bin_folder) as folder:
        folder.build(example("workers", "studio.mo"))
        with Daemon(folder, "--device", "reference") as daemon:
            ids = ask(daemon, "studio", "hire", rates)[0]
            assert len(set(ids)) == 2, ids
            losses = ask(daemon, "studio", "train", 20)[0]
            weights = ask(daemon, "studio", "weights")[0]
            for lr, loss, blob in zip(rates, losses, weights):
                factor = 1 - 15 * lr
                assert abs(loss["first"] - 67.5) < 1e-4, loss
                last = 67.5 * factor ** (2 * 19)
                assert abs(loss["last"] - last) < 1e-4 * max(last, 1e-3), (lr, loss, last)
                weight = struct.unpack("<f", bytes.fromhex(blob[2:]))[0]
                assert abs(weight - 3 * (1 - factor ** 20)) < 1e-5, (lr, weight)
            assert ask(daemon, "studio", "hire", [0.02])[0][0] not in ids
            assert daemon.query("studio", "size")[1] == [3]
    print("workers", losses)


def timer(bin_folder):
    with Folder(bin_folder) as folder:
        folder.build(example("timer", "clock.mo"))
        with Daemon(folder) as daemon:
            def count():
                return daemon.query("clock", "count")[1][0]
            wait_until(lambda: count() >= 3, 30, "three ticks of a clock that nobody calls")
            stopped = ask(daemon, "clock", "stop")[0]
            assert stopped >= 3, stopped
            # A tick that was on its way may still come; after two more calls it has.
            ask(daemon, "clock", "stop")
            still = ask(daemon, "clock", "stop")[0]
            ask(daemon, "clock", "start")
            wait_until(lambda: count() > still, 30, "a tick after the clock was started again")
    print("timer", stopped)


def talk(bin_folder):
    with Folder(bin_folder) as folder:
        folder.build(example("talk", "counter.mo"))
        folder.build(example("talk", "listener.mo"))
        with Daemon(folder) as daemon:
            ask(daemon, "listener", "listen")
            assert ask(daemon, "listener", "run", 5) == [{"answer": 5, "heard": [5]}]
            failed = ask(daemon, "listener", "fail", 1)[0]
            assert failed["value"] == 6, failed
            assert "assertion failed" in failed["message"], failed
    print("talk", failed)


def upgrade(bin_folder):
    with Folder(bin_folder) as folder:
        folder.build(example("upgrade", "notes.mo"))
        with Daemon(folder) as daemon:
            assert ask(daemon, "notes", "add", "milk") == [1]
            assert ask(daemon, "notes", "add", "bread") == [2]
            folder.build_as(example("upgrade", "notes_2.mo"), "notes")
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: daemon.query("notes", "headline")[0] == 200, 60, "the upgrade")
            assert daemon.query("notes", "all")[1] == [["milk", "bread"]]
            assert daemon.query("notes", "headline")[1] == ["untitled"]
            assert ask(daemon, "notes", "add", "tea") == [3]
    print("upgrade")


def main():
    chosen = sys.argv[2:] or ["workers", "timer", "talk", "upgrade"]
    for name in chosen:
        globals()[name](sys.argv[1])


if __name__ == "__main__":
    main()
