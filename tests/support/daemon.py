"""A moxzid under test: build actors, start it on a free port, call it, stop it."""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LETTERS = os.path.join(ROOT, "examples", "letters", "letters.mo")


class Folder:
    """A temporary folder of built actors with their actors.json."""

    def __init__(self, bin_folder):
        self.bin = os.path.abspath(bin_folder)
        self.path = tempfile.mkdtemp(prefix="moxzi-")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def build(self, source, *names):
        """Compiles a source, hosted under each of the names (default: the file's stem)."""
        done = subprocess.run([os.path.join(self.bin, "moxzi"), "build", source, "-o", self.path],
                              cwd=self.path, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"moxzi build {source}: {done.stderr}")
        stem = os.path.splitext(os.path.basename(source))[0]
        if names:
            manifest = os.path.join(self.path, "actors.json")
            with open(manifest, encoding="utf-8") as f:
                known = json.load(f)
            if stem not in names:
                self._drop(known, stem)
            for name in names:
                self._add(known, name, f"{stem}.wasm")
            with open(manifest, "w", encoding="utf-8") as f:
                json.dump(known, f)

    def build_as(self, source, name):
        """Compiles a source as the actor of this name, whatever the file's stem."""
        done = subprocess.run([os.path.join(self.bin, "moxzi"), "build", source, "-n", name, "-o",
                               self.path], cwd=self.path, capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"moxzi build {source}: {done.stderr}")

    @staticmethod
    def _drop(manifest, name):
        if "actors" in manifest:
            manifest["actors"] = [a for a in manifest["actors"] if a["name"] != name]
        else:
            manifest.pop(name, None)

    @staticmethod
    def _add(manifest, name, wasm):
        if "actors" in manifest:
            manifest["actors"] = [a for a in manifest["actors"] if a["name"] != name]
            manifest["actors"].append({"name": name, "wasm": wasm})
        else:
            manifest[name] = wasm


class Daemon:
    """moxzid on a free port; used as a context."""

    def __init__(self, folder, *flags, start_seconds=60):
        self.process = subprocess.Popen(
            [os.path.join(folder.bin, "moxzid"), "-m", os.path.join(folder.path, "actors.json"),
             "--port", "0", *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            bufsize=0)
        self.lines = []
        self.url = self._wait_for("listening on ", start_seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def _wait_for(self, prefix, seconds):
        deadline = time.monotonic() + seconds
        pending = b""
        while time.monotonic() < deadline:
            # Whole reads of the pipe: a buffered reader would hide lines from select.
            ready, _, _ = select.select([self.process.stdout], [], [], 1)
            piece = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if ready and not piece:
                break
            pending += piece
            *lines, pending = pending.split(b"\n")
            self.lines += [line.decode() for line in lines]
            for line in self.lines:
                if line.startswith(prefix):
                    return line[len(prefix):].strip()
        self.process.kill()
        self.process.wait()
        raise RuntimeError(f"moxzid did not start: {self.lines}")

    def post(self, path, body, seconds=120):
        """Status and JSON of one POST, whatever the status."""
        request = urllib.request.Request(f"{self.url}{path}", body.encode())
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def call(self, actor, method, *arguments, seconds=120):
        """Status and answer of an update call."""
        return self.post(f"/call-json/{actor}/{method}", json.dumps(arguments), seconds)

    def query(self, actor, method, *arguments):
        return self.post(f"/query-json/{actor}/{method}", json.dumps(arguments))

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        """SIGTERM; returns the exit code and how long it took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        return code, time.monotonic() - begin


def wait_until(condition, seconds, what):
    """Polls a condition until it holds or the liveness deadline has passed."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        select.select([], [], [], 0.02)
