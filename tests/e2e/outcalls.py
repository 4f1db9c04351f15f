#!/usr/bin/env python3
"""A Motoko actor calls a server outside, through its transform function, and signs."""

import http.server
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import ROOT, Daemon, Folder  # noqa: E402

SECP256K1_P = 2**256 - 2**32 - 977
SECP256K1_N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
SECP256K1_G = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
               0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)


def add(p, q):
    if p is None or q is None:
        return p or q
    if p[0] == q[0] and (p[1] + q[1]) % SECP256K1_P == 0:
        return None
    if p == q:
        slope = 3 * p[0] * p[0] * pow(2 * p[1], -1, SECP256K1_P)
    else:
        slope = (q[1] - p[1]) * pow(q[0] - p[0], -1, SECP256K1_P)
    x = (slope * slope - p[0] - q[0]) % SECP256K1_P
    return x, (slope * (p[0] - x) - p[1]) % SECP256K1_P


def times(n, p):
    total = None
    while n:
        if n & 1:
            total = add(total, p)
        p = add(p, p)
        n >>= 1
    return total


def verifies(key, message_hash, signature):
    """ECDSA by the book."""
    x = int.from_bytes(key[1:], "big")
    y = pow(x**3 + 7, (SECP256K1_P + 1) // 4, SECP256K1_P)
    if y % 2 != key[0] % 2:
        y = SECP256K1_P - y
    r, s = (int.from_bytes(part, "big") for part in (signature[:32], signature[32:]))
    inverse = pow(s, -1, SECP256K1_N)
    z = int.from_bytes(message_hash, "big")
    point = add(times(z * inverse % SECP256K1_N, SECP256K1_G), times(r * inverse % SECP256K1_N, (x, y)))
    return point is not None and point[0] % SECP256K1_N == r


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.headers["X-Test"].encode() + b":" + body
        self.send_response(201)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    with Folder(sys.argv[1]) as folder:
        folder.build(os.path.join(ROOT, "tests", "e2e", "caller.mo"))
        with Daemon(folder, "--outcalls", "any") as daemon:
            status, answer = daemon.call("caller", "post", url, "ping")
            assert status == 200, answer
            assert answer == [{"status": 201, "headers": [{"name": "context", "value": "mark"}],
                               "body": "1:ping"}], answer
            failed = daemon.call("caller", "fails", "http://127.0.0.1:1/")[1][0]
            assert failed["code"] == "transient", failed
            message_hash = bytes(range(32))
            signed = daemon.call("caller", "sign", "0x" + message_hash.hex())[1][0]
            key, signature = (bytes.fromhex(signed[part][2:]) for part in ("key", "signature"))
            assert verifies(key, message_hash, signature), signed
            assert not verifies(key, bytes(32), signature)
        # Without the flag this machine is out of reach.
        with Daemon(folder) as daemon:
            failed = daemon.call("caller", "fails", url)[1][0]
            assert failed["code"] == "fatal" and "--outcalls any" in failed["message"], failed
            failed = daemon.call("caller", "fails", url.replace("http:", "https:"))[1][0]
            assert failed["code"] == "fatal", failed
        with Daemon(folder, "--outcalls", "off") as daemon:
            failed = daemon.call("caller", "fails", "https://example.com/")[1][0]
            assert failed["code"] == "fatal" and "off" in failed["message"], failed
    server.shutdown()
    print(answer, failed)


if __name__ == "__main__":
    main()
