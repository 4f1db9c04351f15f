#!/usr/bin/env python3
"""Strangers at the front door: malformed requests, and connections that send a byte a second. Good
clients keep their answers; nothing stays behind.

  strangers.py BIN [--malformed 500] [--slow 100] [--seconds 3] [--verdict]

With --verdict (make soak) the good clients' 99th percentile must not rise above twice what it was.
"""

import argparse
import os
import random
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import Daemon, Folder, wait_until  # noqa: E402

ECHO = """persistent actor {
  public func echo(n : Nat) : async Nat { n };
  public query func peek(n : Nat) : async Nat { n };
}
"""
GOOD = (b"POST /query-json/echo/peek HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n[7]")
MIB = 1 << 20


def connect(port):
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


class GoodClient:
    """One kept connection; every answer must be the right one."""

    def __init__(self, port):
        self.socket = connect(port)

    def ask(self):
        begin = time.perf_counter()
        self.socket.sendall(GOOD)
        answer = b""
        while not answer.endswith(b"[7]"):
            piece = self.socket.recv(65536)
            assert piece, f"cut after {answer!r}"
            answer += piece
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        return time.perf_counter() - begin


def p99(times):
    return sorted(times)[len(times) * 99 // 100]


def malformed(daemon, port, count, seed):
    """Mutated and random requests, each on a connection of its own."""
    rng = random.Random(seed)
    base = (b"POST /call-json/echo/echo?timeout_ms=1000 HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Length: 3\r\n\r\n[7]")
    good = GoodClient(port)
    for i in range(count):
        if i % 4 == 0:
            request = rng.randbytes(rng.randrange(1, 400))
        else:
            request = bytearray(base)
            for _ in range(rng.randrange(1, 5)):
                at = rng.randrange(len(request))
                what = rng.randrange(3)
                if what == 0:
                    request[at] = rng.randrange(256)
                elif what == 1:
                    del request[at:at + rng.randrange(8)]
                else:
                    request.insert(at, rng.randrange(256))
        client = connect(port)
        client.sendall(bytes(request))
        client.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while piece := client.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        except TimeoutError:
            raise AssertionError(f"request {i} was never ended: {bytes(request)!r}, {answer!r}") from None
        client.close()
        assert not answer or answer.startswith(b"HTTP/1.1 "), (i, bytes(request), answer)
        if i % 50 == 0:
            good.ask()
    print(f"{count} malformed requests; the good client kept its answers")


def slow(daemon, port, count, seconds):
    """Connections that send one byte a second; returns good clients' p99 before and during."""
    good = GoodClient(port)
    for _ in range(200):
        good.ask()
    before = [good.ask() for _ in range(2000)]
    connections = []

    def open_one(i):
        one = connect(port)
        one.setblocking(False)
        one.send(b"GET /health HTTP/1.1\r\nA: " if i % 2 == 0 else
                 b"POST /call-json/echo/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n")
        return one

    for i in range(count):
        connections.append(open_one(i))
    during, cut, end = [], 0, time.monotonic() + seconds
    next_byte = time.monotonic() + 1
    while time.monotonic() < end:
        during.append(good.ask())
        if time.monotonic() < next_byte:
            continue
        next_byte += 1
        for i, one in enumerate(connections):
            try:
                one.send(b"x")
            except OSError:
                one.close()
                cut += 1
                connections[i] = open_one(i)
    for one in connections:
        one.close()
    print(f"{count} slow connections for {seconds} s, {cut} of them cut and opened again; "
          f"good p99 {p99(before) * 1e6:.0f} us before, {p99(during) * 1e6:.0f} us during "
          f"({len(during)} answers)")
    return p99(before), p99(during)


def idle_share(daemon, seconds):
    """The share of a processor that the idle daemon uses."""
    def used():
        with open(f"/proc/{daemon.process.pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    begin, start = used(), time.monotonic()
    wait_until(lambda: time.monotonic() > start + seconds, seconds + 10, "time to pass")
    return (used() - begin) / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--malformed", type=int, default=500)
    parser.add_argument("--slow", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--verdict", action="store_true")
    args = parser.parse_args()
    with Folder(args.bin) as folder:
        folder.build(folder.write("echo.mo", ECHO))
        with Daemon(folder, "--log-level", "error") as daemon:
            port = int(daemon.url.rsplit(":", 1)[1])
            descriptors = f"/proc/{daemon.process.pid}/fd"
            GoodClient(port).ask()
            wait_until(lambda: len(os.listdir(descriptors)) > 0, 10, "descriptors")
            open_before = len(os.listdir(descriptors))
            malformed(daemon, port, args.malformed, args.seed)
            memory = daemon.resident_bytes()
            before, during = slow(daemon, port, args.slow, args.seconds)
            wait_until(lambda: len(os.listdir(descriptors)) <= open_before, 30,
                       "every connection is closed")
            grown = daemon.resident_bytes() - memory
            share = idle_share(daemon, 2 if args.verdict else 0.5)
            print(f"memory grew by {grown / MIB:.1f} MiB; idle: {share * 100:.2f} % of a processor")
            assert grown <= 16 * MIB, grown
            if args.verdict:
                assert during <= 2 * before, (before, during)
                assert share < 0.01, share
            code, _ = daemon.stop()
            assert code == 0, code


if __name__ == "__main__":
    main()
