#!/usr/bin/env python3
"""The HTTP interface of docs/http.md against a daemon: calls in all forms, options, calls that nobody
waits for, pages, commands, what SIGHUP does, TLS.   front_door.py BIN"""

import json
import os
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import ROOT, Daemon, Folder, wait_until  # noqa: E402

COUNTER = """
import Debug "mo:core/Debug";
import Principal "mo:core/Principal";
import Runtime "mo:core/Runtime";
persistent actor class (start : { first : Nat; name : Text }) {
  var total = start.first;
  public func add(n : Nat) : async Nat { total += n; Debug.print("added"); total };
  public query func get() : async Nat { total };
  public query func name() : async Text { start.name };
  public composite query func both() : async (Nat, Text) { (total, start.name) };
  public func fail() : async () { Runtime.trap("on purpose") };
  public shared query ({ caller }) func who() : async Principal { caller };
  public query func bytes() : async Blob { "\\01\\02" };
  public func variable(key : Text) : async ?Text { Runtime.envVar<system>(key) };
}
"""
MANIFEST = {"version": 1, "actors": [
    {"name": "counter", "wasm": "counter.wasm", "args_json": [{"first": 5, "name": "c"}],
     "env": {"COLOUR": "blue"}},
    {"name": "second", "wasm": "counter.wasm", "args": "(record { first = 7; name = \"s\" })",
     "start": False, "queries": {"anonymous": False}}]}


def ask(daemon, path, body=None, headers=None, method=None):
    """Status, content type and body of one request, whatever the status."""
    request = urllib.request.Request(f"{daemon.url}{path}", body, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers["Content-Type"], refused.read()


def page(daemon, path, body=None):
    status, _, text = ask(daemon, path, body)
    return status, json.loads(text)


def expect(what, wanted, found):
    assert wanted == found, f"{what}: expected {wanted!r}, got {found!r}"


def calls(daemon):
    expect("JSON", (200, [8]), page(daemon, "/call-json/counter/add", b"[3]"))
    expect("a query by GET", (200, [8]), page(daemon, "/query-json/counter/get"))
    expect("a composite query", (200, [8, "c"]), page(daemon, "/query-json/counter/both"))
    text = "text/plain; charset=utf-8"
    expect("Candid text", (200, text, b"(8)"),
           ask(daemon, "/query/counter/get", b"()", {"Content-Type": "text/plain"}))
    expect("as it looks", (200, text, b"(10)"), ask(daemon, "/call/counter/add", b"(2)"))
    binary = {"Content-Type": "application/octet-stream"}
    message = b"DIDL\x00\x01\x7d\x05"  # (5 : nat)
    expect("a message", (200, "application/octet-stream", b"DIDL\x00\x01\x7d\x0f"),
           ask(daemon, "/call/counter/add", message, binary))
    for bad in (b"DIDL\x00\x01\x71\x01a", b"DIDL", b"nothing"):
        status, _, body = ask(daemon, "/call/counter/add", bad, binary)
        expect(f"{bad!r}", (400, "MX400"), (status, json.loads(body)["error"]["error_code"]))
    expect("a trap", 422, page(daemon, "/call-json/counter/fail", b"[]")[0])
    expect("no such method", 404, page(daemon, "/call/counter/adds", b"(1)")[0])
    expect("no such actor", 404, page(daemon, "/call/countr/add", b"(1)")[0])
    expect("the wrong method", 405, ask(daemon, "/call/counter/add")[0])
    expect("twice", 400, page(daemon, "/call-json/counter/add?timeout_ms=1&timeout_ms=1", b"[1]")[0])


def options(daemon):
    expect("anonymous", (200, ["2vxsx-fae"]), page(daemon, "/query-json/counter/who"))
    somebody = "ryjl3-tyaaa-aaaaa-aaaba-cai"
    expect("a sender", (200, [somebody]), page(daemon, f"/query-json/counter/who?sender={somebody}"))
    expect("no principal", 400, page(daemon, "/query-json/counter/who?sender=aaaaa")[0])
    status, _, body = ask(daemon, f"/query-json/counter/who?sender={somebody}", None,
                          {"X-Forwarded-For": "192.0.2.1"})
    expect("through a proxy", (403, "MX007"), (status, json.loads(body)["error"]["error_code"]))
    expect("a blob", (200, ["0x0102"]), page(daemon, "/query-json/counter/bytes"))
    expect("in base64", (200, [{"base64": "AQI="}]), page(daemon, "/query-json/counter/bytes?blob=base64"))
    expect("a variable", (200, ["blue"]), page(daemon, "/call-json/counter/variable", b'["COLOUR"]'))
    _, second = page(daemon, "/actors/second")
    expect("another actor's id", (200, [second["id"]]),
           page(daemon, "/call-json/counter/variable", b'["PUBLIC_CANISTER_ID:second"]'))


def later(daemon):
    status, answer = page(daemon, "/call-json/counter/add?async=1", b"[1]")
    expect("taken", 202, status)
    path = f"/calls/{answer['call_id']}"
    wait_until(lambda: ask(daemon, path)[0] != 202, 30, "the call's answer")
    expect("its answer", (200, [16]), page(daemon, path))
    status, answer = page(daemon, "/call-json/counter/fail?async=1", b"[]")
    path = f"/calls/{answer['call_id']}"
    wait_until(lambda: ask(daemon, path)[0] != 202, 30, "the other call's answer")
    expect("a trap's answer", 422, ask(daemon, path)[0])
    expect("unknown", (404, "MX008"), (lambda s, a: (s, a["error"]["error_code"]))(
        *page(daemon, "/calls/00000000000000000000000000000000")))


def pages(daemon):
    status, actors = page(daemon, "/actors")
    expect("the actors", (200, ["counter", "second"]), (status, [a["name"] for a in actors["actors"]]))
    _, counter = page(daemon, "/actors/counter")
    assert {"name": "add", "kind": "update"} in counter["methods"], counter
    assert {"name": "both", "kind": "composite_query"} in counter["methods"], counter
    assert counter["memory"]["heap"] > 0 and len(counter["module_hash"]) == 64, counter
    expect("by its id", counter["name"], page(daemon, f"/actors/{counter['id']}")[1]["name"])
    assert b"add: (nat) -> (nat)" in ask(daemon, "/actors/counter/did")[2].replace(b"n: ", b"")
    _, log = page(daemon, "/actors/counter/logs")
    assert any("added" in line["text"] for line in log["lines"]), log
    expect("nothing new", [], page(daemon, f"/actors/counter/logs?from={log['next']}")[1]["lines"])
    expect("a private section", 404, ask(daemon, "/actors/counter/metadata/candid:service")[0])
    expect("status", 2, page(daemon, "/status")[1]["actors"])
    status, kind, metrics = ask(daemon, "/metrics")
    expect("metrics", 200, status)
    assert kind.startswith("text/plain; version=0.0.4"), kind
    for line in ('moxzi_messages_total{actor="counter",method="add",outcome="replied"} 4',
                 'moxzi_messages_total{actor="counter",method="fail",outcome="trapped"} 2',
                 'moxzi_execution_seconds_count{actor="counter"}', 'moxzi_instructions_total{',
                 'moxzi_queue_length{actor="counter"} 0', 'moxzi_heap_bytes{actor="counter"} ',
                 'moxzi_http_answers_total{status="4xx"} ', "moxzi_http_connections_open "):
        assert line in metrics.decode(), f"{line} is not in\n{metrics.decode()}"
    expect("no such page", 404, ask(daemon, "/actors/nobody")[0])


def commands(daemon, folder):
    expect("a stopped start", 409, page(daemon, "/call-json/second/add", b"[1]")[0])
    expect("start", (200, {"status": "running"}), page(daemon, "/admin/second/start", b""))
    expect("after it", (200, [8]), page(daemon, "/call-json/second/add", b"[1]"))
    expect("an anonymous query", 403, page(daemon, "/query-json/second/get")[0])
    expect("one with a name", (200, [8]),
           page(daemon, "/query-json/second/get?sender=ryjl3-tyaaa-aaaaa-aaaba-cai"))
    expect("stop", (200, {"status": "stopped"}), page(daemon, "/admin/second/stop", b""))
    expect("stopped", "stopped", page(daemon, "/actors/second")[1]["status"])
    page(daemon, "/admin/second/start", b"")
    build(folder, COUNTER.replace("total += n;", "total += 2 * n;"))
    status, answer = page(daemon, "/admin/counter/upgrade", b"")
    expect("upgrade", (200, 64), (status, len(answer.get("module_hash", ""))))
    expect("kept", (200, [18]), page(daemon, "/call-json/counter/add", b"[1]"))
    expect("reinstall", 200, page(daemon, "/admin/counter/reinstall", b"")[0])
    expect("from nothing", (200, [5]), page(daemon, "/query-json/counter/get"))
    expect("topup", 200, page(daemon, "/admin/topup/counter?cycles=5", b"")[0])
    status, _, body = ask(daemon, "/admin/counter/stop", b"", {"Origin": "http://example.org"})
    expect("from another site", (403, "MX512"), (status, json.loads(body)["error"]["error_code"]))


def reload(daemon, folder):
    build(folder, COUNTER.replace("total += n;", "total += 3 * n;"))
    manifest = json.loads(json.dumps(MANIFEST))
    manifest["actors"][0]["env"]["COLOUR"] = "red"
    manifest["actors"].append({"name": "third", "wasm": "counter.wasm",
                               "args_json": [{"first": 1, "name": "t"}]})
    folder.write("actors.json", json.dumps(manifest))
    daemon.process.send_signal(signal.SIGHUP)
    wait_until(lambda: page(daemon, "/call-json/third/add", b"[1]") == (200, [4]), 60, "a new actor")
    wait_until(lambda: page(daemon, "/call-json/counter/variable", b'["COLOUR"]') == (200, ["red"]),
               60, "the new setting")
    before = page(daemon, "/query-json/counter/get")[1][0]
    expect("upgraded", (200, [before + 3]), page(daemon, "/call-json/counter/add", b"[1]"))
    folder.write("actors.json", "{")
    daemon.process.send_signal(signal.SIGHUP)
    expect("goes on", (200, [before + 6]), page(daemon, "/call-json/counter/add", b"[1]"))


def build(folder, source):
    folder.write("counter.mo", source)
    done = subprocess.run([os.path.join(folder.bin, "moxzi"), "build", "counter.mo", "--no-manifest"],
                          cwd=folder.path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def check(folder):
    def run(*flags):
        done = subprocess.run([os.path.join(folder.bin, "moxzid"), "-m",
                               os.path.join(folder.path, "actors.json"), "--check", *flags],
                              capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    expect("a sound manifest", 0, run()[0])
    wrong = json.loads(json.dumps(MANIFEST))
    wrong["actors"][0]["args_json"] = [{"first": "x", "name": "c"}]
    folder.write("actors.json", json.dumps(wrong))
    code, text = run()
    assert code == 1 and "args_json: args[0].first: " in text, text
    # What a start would refuse is refused here, too.
    controllers = ["2vxsx-fae"] * 11
    for change, reason in (({"env": {"K" * 129: "v"}}, "128 bytes"),
                           ({"env": {f"K{i}": "v" for i in range(21)}}, "at most 20"),
                           ({"controllers": controllers}, "at most 10"),
                           ({"args_json": None, "args_hex": "00"}, "args_hex: ")):
        wrong = json.loads(json.dumps(MANIFEST))
        wrong["actors"][0].update(change)
        wrong["actors"][0] = {k: v for k, v in wrong["actors"][0].items() if v is not None}
        folder.write("actors.json", json.dumps(wrong))
        code, text = run()
        assert code == 1 and reason in text and text.count("\n") == 1, (change, text)
    folder.write("more.did", "service : { nothing : () -> () }")
    wrong = json.loads(json.dumps(MANIFEST))
    wrong["actors"][0]["did"] = "more.did"
    folder.write("actors.json", json.dumps(wrong))
    code, text = run()
    assert code == 1 and "the module has no method 'nothing'" in text, text
    assert run("-l", "300.1.1.1:70")[0] == 2
    # A module that is none, in one line.
    folder.write("broken.wasm", "")
    with open(os.path.join(folder.path, "broken.wasm"), "wb") as file, \
            open(os.path.join(folder.path, "counter.wasm"), "rb") as sound:
        module = bytearray(sound.read())
        middle = len(module) // 2
        module[middle:middle + 64] = b"\xff" * 64
        file.write(module)
    folder.write("actors.json", json.dumps(["broken.wasm"]))
    code, text = run()
    assert code == 1 and text.count("\n") == 1, text
    folder.write("actors.json", json.dumps(MANIFEST))


def cycles(folder):
    manifest = json.loads(json.dumps(MANIFEST))
    manifest["actors"][1]["cycles"] = "9000000000000000"
    folder.write("actors.json", json.dumps(manifest))
    with Daemon(folder, "--cycles", "5000000000000000", "--log-json") as daemon:
        balance = lambda name: int(page(daemon, f"/actors/{name}")[1]["cycles"])  # noqa: E731
        assert 4 * 10**15 < balance("counter") <= 5 * 10**15, balance("counter")
        assert 8 * 10**15 < balance("second") <= 9 * 10**15, balance("second")
        before = balance("second")
        expect("topup", 200, page(daemon, "/admin/topup/second?cycles=700", b"")[0])
        expect("after it", before + 700, balance("second"))
    folder.write("actors.json", json.dumps(MANIFEST))


def tls(folder):
    cert, key = (os.path.join(folder.path, name) for name in ("cert.pem", "key.pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-keyout", key, "-out", cert, "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    os.chmod(key, 0o600)
    with Daemon(folder, "--tls-cert", cert, "--tls-key", key) as daemon:
        assert daemon.url.startswith("https://127.0.0.1:"), daemon.url
        context = ssl.create_default_context(cafile=cert)
        url = daemon.url.replace("127.0.0.1", "localhost")
        with urllib.request.urlopen(f"{url}/query-json/counter/get", context=context) as answer:
            expect("over TLS", b"[5]", answer.read())


def main():
    with Folder(sys.argv[1]) as folder:
        folder.write("actors.json", json.dumps(MANIFEST))
        build(folder, COUNTER)
        check(folder)
        with Daemon(folder, "-q") as daemon:
            for part in (calls, options, later, pages):
                part(daemon)
                print(f"{part.__name__}: as the page says")
            commands(daemon, folder)
            reload(daemon, folder)
            code, seconds = daemon.stop()
            assert code == 0 and seconds < 5, (code, seconds)
        folder.write("actors.json", json.dumps(MANIFEST))
        build(folder, COUNTER)
        cycles(folder)
        tls(folder)
    with open(os.path.join(ROOT, "docs", "http.md"), encoding="utf-8") as f:
        assert "tests/e2e/front_door.py" in f.read()
    print("commands, SIGHUP, TLS: as the page says")


if __name__ == "__main__":
    main()
