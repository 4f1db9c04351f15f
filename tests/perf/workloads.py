"""The rows of make bench: what is measured, and against which peers (see bench.py)."""

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import hosting  # noqa: E402
import language  # noqa: E402
from daemon import LETTERS, Daemon, Folder  # noqa: E402


def run(bench):
    letters = bench.program(os.path.join(bench.bin, "device_bench"), "letters", "2000")
    bench.compare("control", letters, [("letters.device", letters)])
    burn = bench.burn() if bench.selected("letters") else []
    bench.compare("letters.device", letters, burn + bench.torch_letters())
    call = bench.program(os.path.join(bench.bin, "device_bench"), "call", "2000")
    bench.compare("device.call", call, [("letters.device", letters)])
    for model, steps in (("mlp", 200), ("block", 60), ("cnn", 60), ("lstm", 60)):
        model_row(bench, model, steps)
        memory_row(bench, model)
    http_rows(bench, burn)
    start_rows(bench)
    bench.rows_of("candid", os.path.join(bench.bin, "candid_bench"))
    bench.rows_of("binding", os.path.join(bench.bin, "binding_bench"))
    bench.rows_of("wasm", os.path.join(bench.bin, "wasm_bench"))
    hosting.rows(bench)
    language.rows(bench)


def model_row(bench, model, steps, threads=1):
    """A whole training step of a model of peers/torch_models.py, all with the same threads."""
    name = f"{model}.cpu"
    if not bench.selected(name):
        return
    ours = bench.program(os.path.join(bench.bin, "models_bench"), model, str(steps), str(threads))
    bench.compare(name, ours, bench.torch_model(model, steps, threads)
                  + bench.jax_model(model, steps, threads))


def memory_row(bench, model):
    """The most that a training step holds at a time, besides parameters, moments and batches."""
    ours = bench.program(os.path.join(bench.bin, "models_bench"), model, "3", "1",
                         key="memory_bytes")
    bench.compare(f"{model}.memory", ours, bench.torch_memory(model), rounds=1, unit="bytes")


# -- the daemon ------------------------------------------------------------------------------------

ECHO = """persistent actor {
  public func echo(n : Nat) : async Nat { n };
  public query func peek(n : Nat) : async Nat { n };
}
"""


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
    with Folder(bench.bin) as folder:
        folder.build(LETTERS)
        folder.build(folder.write("echo.mo", ECHO))
        with Daemon(folder, "--device", "burn:cpu", "--log-level", "error") as daemon:
            letters_http(bench, daemon, burn)
            with bare_beast(bench) as peer:
                for name, method in (("http.update", "call-json/echo/echo"),
                                     ("http.query", "query-json/echo/peek")):
                    url = f"{daemon.url}/{method}"
                    bench.compare(f"{name}.c1", lambda u=url: wrk(u, 1)[0],
                                  [("beast", lambda: wrk(peer, 1)[0])])
                    bench.compare(f"{name}.c16", lambda u=url: 1e6 / wrk(u, 16)[1],
                                  [("beast", lambda: 1e6 / wrk(peer, 16)[1])])


def letters_http(bench, daemon, burn):
    """learn(200) through HTTP, actor and device, per step."""
    if not bench.selected("letters.http"):
        return
    steps = 200

    def learn():
        start = time.perf_counter()
        status, answer = daemon.call("letters", "learn", steps)
        if status != 200:
            raise RuntimeError(f"learn: {answer}")
        return (time.perf_counter() - start) * 1e6 / steps

    learn()
    bench.compare("letters.http", lambda: statistics.median(learn() for _ in range(5)), burn)


# -- start -----------------------------------------------------------------------------------------


def start_rows(bench):
    """From the command to its first answerable state; the peer is Python importing torch."""
    if not bench.selected("start."):
        return

    def torch_import():
        start = time.perf_counter()
        subprocess.run([bench.python, "-c", "import torch"], check=True)
        return (time.perf_counter() - start) * 1e6

    with Folder(bench.bin) as folder:
        folder.write("actors.json", "{}")

        def start(*flags):
            begin = time.perf_counter()
            with Daemon(folder, "--log-level", "error", *flags):
                return (time.perf_counter() - begin) * 1e6

        bench.compare("start.daemon", lambda: start(), [("torch-import", torch_import)])
        bench.compare("start.device", lambda: start("--device", "cpu"),
                      [("torch-import", torch_import)])


if __name__ == "__main__":
    sys.exit("run bench.py")
