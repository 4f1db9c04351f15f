"""The rows of make bench: what is measured, and against which peers (see bench.py)."""

import contextlib
import json
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
LETTERS = os.path.join(ROOT, "examples", "letters", "letters.mo")


def run(bench):
    letters = bench.program(os.path.join(bench.bin, "device_bench"), "letters", "2000")
    bench.compare("control", letters, [("letters.device", letters)])
    burn = bench.burn() if bench.selected("letters") else []
    bench.compare("letters.device", letters, burn + bench.torch_letters())
    call = bench.program(os.path.join(bench.bin, "device_bench"), "call", "2000")
    bench.compare("device.call", call, [("letters.device", letters)])
    http_rows(bench, burn)
    start_rows(bench)
    bench.rows_of("candid", os.path.join(bench.bin, "candid_bench"))
    bench.rows_of("binding", os.path.join(bench.bin, "binding_bench"))
    bench.rows_of("wasm", os.path.join(bench.bin, "wasm_bench"))


# -- the daemon ------------------------------------------------------------------------------------


class Daemon:
    """A moxzid on a free port, with the letters actor and a trivial one."""

    def __init__(self, bench, folder, *flags):
        self.process = subprocess.Popen(
            [os.path.join(bench.bin, "moxzid"), "-m", os.path.join(folder, "actors.json"),
             "--port", "0", *flags], stdout=subprocess.PIPE, text=True)
        self.url = self.wait_for("listening on ")

    def wait_for(self, prefix):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.process.stdout], [], [], 1)
            line = self.process.stdout.readline() if ready else ""
            if line.startswith(prefix):
                return line[len(prefix):].strip()
            if ready and not line:
                break
        raise RuntimeError("moxzid did not start")

    def call(self, actor, method, body):
        request = urllib.request.Request(f"{self.url}/call-json/{actor}/{method}", body.encode())
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=10)


@contextlib.contextmanager
def built_actors(bench):
    """A folder with the letters actor and a trivial one, built."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "echo.mo"), "w", encoding="utf-8") as f:
            f.write("persistent actor { public func echo(n : Nat) : async Nat { n };\n"
                    "  public query func peek(n : Nat) : async Nat { n } };\n")
        for source in (LETTERS, os.path.join(folder, "echo.mo")):
            subprocess.run([os.path.join(bench.bin, "moxzi"), "build", source, "-o", folder],
                           cwd=folder, check=True, stdout=subprocess.DEVNULL)
        yield folder


@contextlib.contextmanager
def bare_beast(bench):
    server = subprocess.Popen([os.path.join(bench.bin, "beast_server")], stdout=subprocess.PIPE,
                              text=True)
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/"
    finally:
        server.terminate()
        server.wait(timeout=10)


def wrk(url, connections, seconds=3):
    """Median latency in microseconds and requests a second of POSTs with the body [7]."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write('wrk.method = "POST"\nwrk.body = "[7]"\n')
        script.flush()
        out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s",
                              script.name, url], capture_output=True, text=True, check=True,
                             timeout=60).stdout
    if "Non-2xx" in out:
        raise RuntimeError(f"{url}: {re.search('Non-2xx.*', out).group(0)}")
    number, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", out).groups()
    scale = {"us": 1, "ms": 1e3, "s": 1e6}[unit]
    return float(number) * scale, float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))


def http_rows(bench, burn):
    if not any(bench.selected(n) for n in ("letters.http", "http.")):
        return
    with built_actors(bench) as folder:
        daemon = Daemon(bench, folder, "--device", "burn:cpu", "--log-level", "error")
        try:
            steps = 200

            def learn():
                start = time.perf_counter()
                daemon.call("letters", "learn", f"[{steps}]")
                return (time.perf_counter() - start) * 1e6 / steps

            if bench.selected("letters.http"):
                learn()
            bench.compare("letters.http", lambda: statistics.median(learn() for _ in range(5)), burn)
            with bare_beast(bench) as peer:
                for name, method in (("http.update", "call-json/echo/echo"),
                                     ("http.query", "query-json/echo/peek")):
                    url = f"{daemon.url}/{method}"
                    bench.compare(f"{name}.c1", lambda u=url: wrk(u, 1)[0],
                                  [("beast", lambda: wrk(peer, 1)[0])])
                    bench.compare(f"{name}.c16", lambda u=url: 1e6 / wrk(u, 16)[1],
                                  [("beast", lambda: 1e6 / wrk(peer, 16)[1])])
        finally:
            daemon.stop()


# -- start -----------------------------------------------------------------------------------------


def start_rows(bench):
    """From the command to its first answerable state; the peer is Python importing torch."""
    if not bench.selected("start."):
        return

    def torch_import():
        start = time.perf_counter()
        subprocess.run([bench.python, "-c", "import torch"], check=True)
        return (time.perf_counter() - start) * 1e6

    with built_actors(bench) as folder:
        empty = os.path.join(folder, "none.json")
        with open(empty, "w", encoding="utf-8") as f:
            f.write("{}")

        def start(manifest, *flags):
            begin = time.perf_counter()
            with tempfile.TemporaryDirectory() as place:
                os.symlink(manifest, os.path.join(place, "actors.json"))
                daemon = Daemon(bench, place, "--log-level", "error", *flags)
            took = (time.perf_counter() - begin) * 1e6
            daemon.stop()
            return took

        bench.compare("start.daemon", lambda: start(empty), [("torch-import", torch_import)])
        bench.compare("start.device", lambda: start(empty, "--device", "cpu"),
                      [("torch-import", torch_import)])


if __name__ == "__main__":
    sys.exit("run bench.py")
