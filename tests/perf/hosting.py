"""The rows of hosted actors: what an execution costs, how many actors fit, and that one actor's long
computation leaves the others their time."""

import concurrent.futures
import contextlib
import http.client
import os
import threading
import time
import urllib.parse

from daemon import LETTERS, Daemon, Folder, wait_until

COUNTER = """persistent actor {
  var runs = 0;
  public func bump(n : Nat) : async Nat { runs += n; runs };
}
"""
ENDLESS = """persistent actor {
  public func forever() : async () { var i : Nat64 = 0; loop { i +%= 1 } };
}
"""


def rows(bench):
    execution_rows(bench)
    idle_rows(bench)
    fairness_row(bench)
    ten_row(bench)


def execution_rows(bench):
    """One execution with its commit, against the same with written pages found and mapped anew."""
    for name, *work in (("bump", "bump"), ("learn", "learn"), ("touch", "touch", "50")):
        ours, peer = (bench.program(os.path.join(bench.bin, program), *work)
                      for program in ("wasm_bench", "pagemap_host"))
        bench.compare(f"execution.{name}", ours, [("pagemap-host", peer)], limit=0.5)


def idle_rows(bench, count=1000):
    """Letters actors that do nothing: how long until they are served, and what they hold."""
    if not bench.selected("idle."):
        return
    with Folder(bench.bin) as folder:
        folder.build(LETTERS, *(f"letters{i}" for i in range(count)))
        with Daemon(folder, "--log-level", "error", start_seconds=120):
            pass  # now the machine code is in the cache
        begin = time.perf_counter()
        with Daemon(folder, "--log-level", "error", start_seconds=120) as daemon:
            seconds = time.perf_counter() - begin
            resident = daemon.resident_bytes()
            status, answer = daemon.query(f"letters{count - 1}", "count")
            if status not in (200, 404):
                raise RuntimeError(f"an idle actor: {answer}")
    bench.row("idle.start", seconds * 1e6, limit=10e6)
    bench.row("idle.memory", resident, unit="bytes", limit=2.5 * 2**30)


def p99(daemon, calls=3000, actor="counter"):
    """Of one client's updates, in microseconds."""
    address = urllib.parse.urlsplit(daemon.url)
    with contextlib.closing(http.client.HTTPConnection(address.hostname, address.port)) as client:
        times = []
        for _ in range(calls):
            begin = time.perf_counter()
            client.request("POST", f"/call-json/{actor}/bump", "[1]")
            answer = client.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"bump: {answer.status}")
            times.append((time.perf_counter() - begin) * 1e6)
    return sorted(times)[int(calls * 0.99)]


def wait_until_busy(daemon):
    """Until the daemon has computed for a fifth of a second."""

    def seconds():
        with open(f"/proc/{daemon.process.pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    begin = seconds()
    wait_until(lambda: seconds() > begin + 0.2, 30, "the other actor computes")


def fairness_row(bench):
    """Updates of one actor while another computes without end, against the same while it does not."""
    if not bench.selected("fairness.p99"):
        return
    with Folder(bench.bin) as folder:
        folder.build(folder.write("counter.mo", COUNTER))
        folder.build(folder.write("endless.mo", ENDLESS))
        # The limit of instructions ends the computation; a round is over before that.
        with Daemon(folder, "--log-level", "error", "--instruction-limit", "60000000000") as daemon:
            p99(daemon)

            def busy():
                other = threading.Thread(target=daemon.call, args=("endless", "forever"))
                other.start()
                try:
                    wait_until_busy(daemon)
                    found = p99(daemon)
                    if not other.is_alive():
                        raise RuntimeError("the other actor was done too early")
                    return found
                finally:
                    other.join()

            bench.compare("fairness.p99", busy, [("idle", lambda: p99(daemon))], limit=2.0)


def ten_row(bench):
    """The slowest of ten actors, each with a client of its own, while an eleventh never ends."""
    if not bench.selected("fairness.ten"):
        return
    names = [f"counter{i}" for i in range(10)]
    with Folder(bench.bin) as folder:
        folder.build(folder.write("counter.mo", COUNTER), *names)
        folder.build(folder.write("endless.mo", ENDLESS))
        with Daemon(folder, "--log-level", "error", "--instruction-limit", "60000000000") as daemon:
            other = threading.Thread(target=daemon.call, args=("endless", "forever"))
            other.start()
            wait_until_busy(daemon)
            with concurrent.futures.ThreadPoolExecutor(len(names)) as clients:
                slowest = max(clients.map(lambda name: p99(daemon, 300, name), names))
            is_busy = other.is_alive()
            other.join()
    if is_busy:
        bench.row("fairness.ten", slowest, limit=100e3)
