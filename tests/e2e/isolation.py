#!/usr/bin/env python3
"""One actor cannot hurt the others: it loops, traps, recurses a million deep, grows to its cap.
Each ends in its own reject while ten other actors keep answering, and the memory comes back."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import Daemon, Folder, wait_until  # noqa: E402

BAD = """
import Runtime "mo:core/Runtime";
persistent actor {
  var kept = 0;
  public func forever() : async () { kept += 1; while (true) { kept += 1 } };
  public func fail() : async () { kept += 1; Runtime.trap("on purpose") };
  func down(n : Nat) : Nat { if (n == 0) { 0 } else { 1 + down(n - 1) } };
  public func deep(n : Nat) : async Nat { kept += 1; down(n) };
  public func grow() : async Nat {
    kept += 1;
    var all : ?(Any, [var Nat8]) = null;
    var n = 0;
    while (true) { all := ?(all, [var 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]); n += 1 };
    n
  };
  public query func spin() : async Nat { var n = 0; while (true) { n += 1 }; n };
  public query func count() : async Nat { kept };
}
"""
GOOD = """
persistent actor {
  var total = 0;
  public func add(n : Nat) : async Nat { total += n; total };
}
"""
MIB = 1 << 20


class Good(threading.Thread):
    """Calls one good actor over and over until told to stop; every answer must be the right one."""

    def __init__(self, daemon, name):
        super().__init__(daemon=True)
        self.target, self.name_, self.answers, self.wrong = daemon, name, 0, None
        self.halt = threading.Event()
        self.start()

    def run(self):
        while not self.halt.is_set() and self.wrong is None:
            status, answer = self.target.call(self.name_, "add", 1)
            if (status, answer) != (200, [self.answers + 1]):
                self.wrong = (status, answer)
            self.answers += 1


def main():
    names = [f"good{i}" for i in range(10)]
    with Folder(sys.argv[1]) as folder:
        folder.build(folder.write("good.mo", GOOD), *names)
        folder.build(folder.write("bad.mo", BAD))
        with Daemon(folder, "--heap-mb", "256", "--instruction-limit", "3000000000") as daemon:
            others = [Good(daemon, name) for name in names]
            wait_until(lambda: all(o.answers > 0 for o in others), 60, "good actors answer")
            before = daemon.resident_bytes()
            for method, arguments, code, words in [
                    ("forever", [], "MX522", "instruction"), ("fail", [], "MX503", "on purpose"),
                    ("deep", [1_000_000_000], None, ""), ("grow", [], None, "")]:
                seen = [o.answers for o in others]
                status, answer = daemon.call("bad", method, *arguments)
                assert status == 422, (method, status, answer)
                assert answer["error"]["code"] == 5, (method, answer)
                assert words in answer["error"]["message"], (method, answer)
                assert code in (None, answer["error"]["error_code"]), (method, answer)
                wait_until(lambda s=seen: all(o.answers > n + 1 for o, n in zip(others, s)), 60,
                           f"every good actor answers after {method}")
                print(f"{method}: {answer['error']['error_code']} {answer['error']['message'][:70]}")
            status, answer = daemon.call("bad", "deep", 1_000_000)
            assert status in (200, 422), (status, answer)
            status, answer = daemon.query("bad", "spin")
            assert status == 422 and answer["error"]["error_code"] == "MX522", (status, answer)
            # A trap leaves no trace: only a `deep` that came back may have counted.
            status, answer = daemon.query("bad", "count")
            assert (status, answer[0] in (0, 1)) == (200, True), (status, answer)
            for o in others:
                o.halt.set()
            for o in others:
                o.join(60)
                assert o.wrong is None, (o.name_, o.wrong)
            wait_until(lambda: daemon.resident_bytes() < before + 64 * MIB, 30,
                       f"memory comes back (it was {before // MIB} MiB before)")
            print(f"answers of the good actors: {[o.answers for o in others]}")
            code, seconds = daemon.stop()
            assert code == 0, code
            print(f"stopped in {seconds:.2f} s")


if __name__ == "__main__":
    main()
