#!/usr/bin/env python3
"""Rules of the house that a script can check. Prints `file:line: what` and exits 1 on any breach."""

import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

# A folder may include itself and what is named here; there are no other arrows.
MAY_INCLUDE = {
    "base": set(),
    "persist": {"base"},
    "net": {"base"},
    "device": {"base"},
    "actors": {"base", "persist", "net", "device"},
    "shapescript": {"base", "device"},
}

# Folders of one folder, from the ground up: each may include those before it.
STAGES = {
    "shapescript": ["report", "syntax", "check", "lower", "lsp"],
}

# A library's headers appear only in these places.
ONLY_IN = [
    (r"(torch|ATen|c10)/", ("device/torch/", "device/aten/", "device/cuda/")),
    (r"(cuda|nccl|cublas|nvrtc)[\w.]*\.h", ("device/cuda/",)),
    (r"(wasm|wasmtime)(\.h|/)", ("actors/wasm/",)),
    (r"lmdb\.h", ("persist/lmdb_env.",)),
    (r"boost/(beast|asio)", ("net/", "tests/net/")),
    (r"openssl/sha\.h", ("base/digest.cpp", "actors/keys/")),
    (r"openssl/(?!sha\.h)", ("net/", "actors/keys/")),
    (r"CLI/", ("actors/commands/", "actors/moxzi_main.cpp", "actors/moxzid_main.cpp",
               "actors/moxzid_options.", "shapescript/cli_main.cpp")),
]

# Pure cores: no CAF, no clock, no socket.
PURE = re.compile(
    r"^(base/|persist/record|persist/journal|actors/candid/|actors/principal|actors/canister_core"
    r"|actors/wasm/|actors/build/|device/(?!messages|device_worker|device_supervisor|device_thread|caf_error|device_handle"
    r"|opened_device)"
    r"|shapescript/(?!cli_|run/|lsp/))")

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 100
WRITTEN = "// Written from the table of operations."  # by a program, so it may be long
README_LINES_MAX = 15

WORDS = [
    (re.compile(r"\b(TODO|FIXME|XXX)\b"), "unfinished work is left out, not marked"),
    (re.compile(r"not implemented|unimplemented|for now\b|simplified|stubbed", re.I),
     "says that something is unfinished"),
    (re.compile(r"\b(pypi\.org|npmjs\.(org|com)|static\.crates\.io|deb\.debian\.org|index\.crates\.io)"),
     "names a registry host"),
    (re.compile(r"/work/|\bsubagent|\.\./shared\b"), "speaks of a place outside the project"),
]

CODE_WORDS = [
    (re.compile(r"\[=[\],]"), "captures everything by copy; name what is captured"),
    (re.compile(r"\bstd::(cout|cerr)\b"), "use fmt or the logger"),
    (re.compile(r"\bcaf::aout\b"), "aout is not used"),
]


def tracked():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [p for p in out.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, p))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read().splitlines()


def check_includes(path, lines, report):
    folder = path.split("/")[0]
    in_tests = folder == "tests"
    for n, line in enumerate(lines, 1):
        m = re.match(r'\s*#\s*include\s*[<"]([^">]+)[">]', line)
        if not m:
            continue
        name = m.group(1)
        target = name.split("/")[0]
        if folder in MAY_INCLUDE and target in MAY_INCLUDE and target != folder:
            if target not in MAY_INCLUDE[folder]:
                report(path, n, f"{folder}/ may not include {target}/")
        parts, targets = path.split("/"), name.split("/")
        stages = STAGES.get(folder, []) if folder == target else []
        if parts[1:] and parts[1] in stages and targets[1] in stages \
                and stages.index(targets[1]) > stages.index(parts[1]):
            report(path, n, f"{parts[1]}/ may not include {targets[1]}/")
        for pattern, places in ONLY_IN:
            if re.match(pattern, name) and not path.startswith(places) and not in_tests:
                report(path, n, f"<{name}> belongs only in {', '.join(places)}")
        if name.startswith("caf/") and PURE.match(path):
            report(path, n, "a pure part includes CAF")
        if name in ("chrono", "thread") and PURE.match(path) and path not in ALLOWED_CLOCKS \
                and not path.startswith(("actors/wasm/", "device/torch/", "device/aten/", "device/cuda/",
                                          "device/collectives/")):
            report(path, n, f"a pure part includes <{name}>")


ALLOWED_CLOCKS = {"base/system.cpp"}


def check_functions(path, lines, report):
    start = None
    for n, line in enumerate(lines, 1):
        if start is None:
            if re.match(r"^[A-Za-z_~].*\{$", line) and "(" in line and not re.match(
                    r"^(namespace|class|struct|enum|union|extern|const|constexpr|static const)", line):
                start = n
            elif re.match(r"^ {2,}.*\) (const |noexcept |override )*\{$", line) and start is None:
                # the last line of a broken signature
                k = n - 1
                while k > 0 and lines[k - 1].startswith(" "):
                    k -= 1
                if k > 0 and re.match(r"^[A-Za-z_~].*\($|^[A-Za-z_~].*,$", lines[k - 1]):
                    start = k
        elif line.startswith("}"):
            if n - start + 1 > FUNCTION_LINES_MAX:
                report(path, start, f"function of {n - start + 1} lines (at most {FUNCTION_LINES_MAX})")
            start = None


def check_code(path, lines, report):
    if len(lines) > FILE_LINES_MAX and not any(x.startswith(WRITTEN) for x in lines[:3]):
        report(path, FILE_LINES_MAX, f"{len(lines)} lines (at most {FILE_LINES_MAX})")
    for n, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX:
            report(path, n, f"{len(line)} columns (at most {COLUMNS_MAX})")
        for pattern, why in CODE_WORDS:
            if pattern.search(line) and not (path.startswith("tests/") and "logger" in why):
                report(path, n, why)
        if path.endswith(".hpp") and re.match(r"\s*using namespace", line):
            report(path, n, "using namespace in a header")
        if re.match(r"\s*throw\b", line) and not path.startswith("tests/"):
            report(path, n, "the project's code does not throw")
        if path.startswith("tests/") and re.search(r"sleep_for|\busleep\(", line):
            report(path, n, "a fixed wait; wait for a condition with a deadline")
        reasons = "".join(lines[max(0, n - 7):n - 1])
        if "caf::infinite" in line and not path.startswith("tests/") \
                and "Without a deadline" not in reasons:
            report(path, n, "a request without a deadline")
    if path.endswith(".hpp") and lines and lines[0] != "#pragma once":
        report(path, 1, "a header starts with #pragma once")


def main():
    breaches = []

    def report(path, line, what):
        breaches.append(f"{path}:{line}: {what}")

    for path in tracked():
        if path.startswith("tests/fuzz/corpus/"):
            continue
        text = path.endswith((".cpp", ".hpp", ".md", ".py", ".sh", ".cmake", ".txt", ".js", ".mo",
                              "Makefile"))
        if not text:
            continue
        lines = read(path)
        if path != "tests/tidy/tidy.py":
            for n, line in enumerate(lines, 1):
                for pattern, why in WORDS:
                    if pattern.search(line):
                        report(path, n, f"{why}: {line.strip()[:60]}")
                if path.endswith(".py") and re.search(r"time\.sleep\(", line) \
                        and path.startswith("tests/"):
                    report(path, n, "a fixed wait; wait for a condition with a deadline")
        if path.endswith((".cpp", ".hpp")):
            check_includes(path, lines, report)
            check_functions(path, lines, report)
            check_code(path, lines, report)
        if re.match(r"^[a-z]+(/[a-z]+)?/README\.md$", path) and not path.startswith(
                ("docs/", "examples/", "tests/")):
            if len(lines) > README_LINES_MAX:
                report(path, len(lines), f"{len(lines)} lines (a folder's README has at most "
                                         f"{README_LINES_MAX})")
    for folder in MAY_INCLUDE:
        if not os.path.exists(os.path.join(ROOT, folder, "README.md")):
            report(f"{folder}/README.md", 1, "missing")
    print("\n".join(breaches))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
