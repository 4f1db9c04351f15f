"""The rows of ShapeScript: checking whole programs, and answering an editor after a keystroke.

The peers check typed Python of the same number of lines: mypy without its cache as a whole process,
basedpyright as a language server.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time

CHAPTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "shapescript",
                       "chapter", "train.ss")

PART = """data Digit{i}:
    img:   [D]
    label: [] Index[C]

model Mlp{i}:
    param w1: [D Hd] = normal(std=0.02)
    param w2: [Hd C] = normal(std=0.02)
    param gain: [Hd] = ones()

fn block{i}(m: Mlp{i}, x: [b D]) -> [b C]:
    h = x @ m.w1
        |> gelu
        |> rms_norm(over=Hd, gain=m.gain)
    a = h |> softmax(over=Hd)
    s = einsum(h, a: b Hd, b Hd -> b Hd)
    return (s + h * 0.5) @ m.w2

fn loss{i}(m: Mlp{i}, batch: [b] Digit{i}) -> [] NonNeg:
    return cross_entropy(block{i}(m, batch.img), batch.label, over=C)

fn step{i}(mut m: Mlp{i}, mut opt: AdamW[Mlp{i}], batch: [b] Digit{i}) -> [] NonNeg:
    l, g = value_and_grad(loss{i}, m, batch)
    update(mut m, mut opt, g)
    return l

fn train{i}(mut m: Mlp{i}, data: Dataset[Digit{i}], epochs: int):
    opt = adamw(m, lr=3e-4)
    for epoch in 0..epochs:
        for batch in data |> shuffle(seed=epoch) |> batches(64):
            print("loss", step{i}(mut m, mut opt, batch))

"""

PYTHON_PART = """@dataclass
class Digit{i}:
    img: list[float]
    label: int


@dataclass
class Mlp{i}:
    w1: list[list[float]]
    w2: list[list[float]]
    gain: list[float]

    def block(self, x: list[float]) -> list[float]:
        h = [sum(a * b for a, b in zip(x, row)) for row in self.w1]
        a = [math.exp(v) for v in h]
        s = [u * v for u, v in zip(h, a)]
        return [sum(a * b for a, b in zip(s, row)) for row in self.w2]


def loss{i}(m: Mlp{i}, batch: list[Digit{i}]) -> float:
    return sum(-math.log(m.block(one.img)[one.label]) for one in batch)


def step{i}(m: Mlp{i}, rate: float, batch: list[Digit{i}]) -> float:
    before = loss{i}(m, batch)
    m.gain = [g - rate * before for g in m.gain]
    return before


def train{i}(m: Mlp{i}, data: list[Digit{i}], epochs: int) -> None:
    for epoch in range(epochs):
        print("loss", step{i}(m, 3e-4, data[epoch:]))


"""


def program(lines):
    text = "devices cuda[0 1 2]\n\ndim D  = 784\ndim Hd = 256\ndim C  = 10\n\n"
    return text + parts(PART, lines - text.count("\n"))


def python_program(lines):
    text = "import math\nfrom dataclasses import dataclass\n\n\n"
    return text + parts(PYTHON_PART, lines - text.count("\n"))


def parts(part, lines):
    count = max(1, round(lines / part.count("\n")))
    return "".join(part.replace("{i}", str(i)) for i in range(count))


def process(*command, times=1):
    """A whole process, in microseconds, the median of several; it must find nothing wrong."""

    def once():
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        took = (time.perf_counter() - begin) * 1e6
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {(done.stdout + done.stderr)[:400]}")
        return took

    return lambda: statistics.median(once() for _ in range(times))


class Server:
    """A language server with one open file."""

    def __init__(self, command, text, name, language):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.document = {"uri": f"file://{name}"}
        self.last = 0
        self.version = 1
        self.line = text.count("\n", 0, len(text) // 2)
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.tell("initialized", {})
        self.tell("textDocument/didOpen", {"textDocument": dict(
            self.document, languageId=language, version=1, text=text)})
        self.place = {"line": self.line, "character": 0}
        self.ask("textDocument/hover", {"textDocument": self.document, "position": self.place})

    def send(self, message):
        body = json.dumps(dict(message, jsonrpc="2.0")).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def read(self):
        size = None
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        if size is None:
            raise RuntimeError("the language server ended")
        return json.loads(self.process.stdout.read(size))

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.last and "method" not in message:
                return message.get("result")
            if "method" in message and "id" in message:  # it asks for its settings
                items = message.get("params", {}).get("items", [])
                self.send({"id": message["id"], "result": [None] * len(items)})

    def keystroke(self):
        """From a changed character to what hovers at another place, in microseconds."""
        self.version += 1
        begin = time.perf_counter()
        at = {"line": self.line, "character": 0}
        self.tell("textDocument/didChange", {
            "textDocument": dict(self.document, version=self.version),
            "contentChanges": [{"range": {"start": at, "end": at}, "text": "\n"}]})
        self.ask("textDocument/hover", {
            "textDocument": self.document, "position": {"line": 9, "character": 7}})
        return (time.perf_counter() - begin) * 1e6

    def keystrokes(self):
        return statistics.median(self.keystroke() for _ in range(21))

    def close(self):
        self.process.kill()
        self.process.wait()


def rows(bench):
    if not bench.selected("shapescript."):
        return
    peers = bench.peer_programs()
    shapescript = os.path.join(bench.bin, "shapescript")
    with tempfile.TemporaryDirectory() as folder:

        def write(name, text):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return path

        for name, lines in (("shapescript.check", 0), ("shapescript.check5000", 5000)):
            mine = write(f"a{lines}.ss", program(lines)) if lines else CHAPTER
            other = write(f"a{lines}.py", python_program(lines))
            mypy = [("mypy", process(peers("mypy"), "--cache-dir=/dev/null", other))]
            bench.compare(name, process(shapescript, "check", mine, times=9), mypy)
        if not bench.selected("shapescript.keystroke"):
            return
        servers = []
        try:
            servers.append(Server([shapescript, "lsp"], program(2000), folder + "/b.ss",
                                  "shapescript"))
            servers.append(Server([peers("basedpyright-langserver"), "--stdio"],
                                  python_program(2000), folder + "/b.py", "python"))
            bench.compare("shapescript.keystroke", servers[0].keystrokes,
                          [("basedpyright", servers[1].keystrokes)])
        except (RuntimeError, OSError) as why:
            print(f"bench: shapescript.keystroke left out: {why}", flush=True)
        finally:
            for one in servers:
                one.close()
