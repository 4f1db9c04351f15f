#!/usr/bin/env python3
"""What actors hold. One that grows to its heap's limit is rejected, in one message and over many; the
daemon never holds more than that limit and 64 MiB, and has it back when the actor is deleted. A
thousand actors that do nothing fit into 2.5 GiB."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from daemon import LETTERS, Daemon, Folder, wait_until  # noqa: E402

HOG = """
import VarArray "mo:core/VarArray";
persistent actor {
  var kept : ?(Any, [var Nat64]) = null;
  func more() { kept := ?(kept, VarArray.repeat<Nat64>(7, 1_000_000)) };
  public func grow() : async () { more() };
  public func burst() : async () { while (true) { more() } };
  public query func ping() : async Text { "here" };
}
"""
KEEPER = """
persistent actor {
  transient let management : actor {
    stop_canister : ({ canister_id : Principal }) -> async ();
    delete_canister : ({ canister_id : Principal }) -> async ();
  } = actor "aaaaa-aa";
  public func end(canister_id : Principal) : async () {
    await management.stop_canister({ canister_id });
    await management.delete_canister({ canister_id });
  };
}
"""
MIB = 1 << 20
CAP = 512 * MIB


def status_bytes(daemon, field):
    """A line of the process's status, in bytes."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(field))


def principal_of(folder, name):
    return subprocess.run([os.path.join(folder.bin, "moxzi"), "id", name], capture_output=True,
                          text=True, check=True).stdout.strip()


def a_hog(bin_folder):
    with Folder(bin_folder) as folder:
        folder.build(folder.write("keeper.mo", KEEPER))
        folder.build(folder.write("hog.mo", HOG))
        keeper, hog = principal_of(folder, "keeper"), principal_of(folder, "hog")
        manifest = {"version": 1, "actors": [
            {"name": "keeper", "wasm": "keeper.wasm"},
            {"name": "hog", "wasm": "hog.wasm", "controllers": [keeper]}]}
        folder.write("actors.json", json.dumps(manifest))
        with Daemon(folder, "--heap-mb", str(CAP // MIB)) as daemon:
            assert daemon.query("hog", "ping") == (200, ["here"])
            before = daemon.resident_bytes()
            status, answer = daemon.call("hog", "burst")
            assert status == 422 and answer["error"]["error_code"] == "MX539", answer
            wait_until(lambda: daemon.resident_bytes() < before + 64 * MIB, 30,
                       "what the message took comes back")
            grown = 0
            while True:
                status, answer = daemon.call("hog", "grow")
                if status != 200:
                    break
                grown += 1
            assert status == 422 and answer["error"]["error_code"] == "MX539", answer
            assert grown * 8_000_000 > CAP * 0.7, grown
            assert daemon.query("hog", "ping") == (200, ["here"])
            peak = status_bytes(daemon, "VmHWM")
            print(f"hog: {grown} arrays, at most {peak // MIB} MiB held")
            assert peak <= CAP + 64 * MIB, peak // MIB
            status, answer = daemon.call("keeper", "end", hog)
            assert status == 200, answer
            wait_until(lambda: daemon.resident_bytes() < before + 64 * MIB, 30,
                       f"a deleted actor's memory comes back (it was {before // MIB} MiB before)")


def a_thousand(bin_folder):
    with Folder(bin_folder) as folder:
        folder.build(LETTERS, *(f"letters{i}" for i in range(1000)))
        with Daemon(folder, start_seconds=120) as daemon:
            # Without a device only the message of that shows that the actor ran.
            status, answer = daemon.call("letters999", "learn", 1)
            assert status == 422 and "MXD001" in answer["error"]["message"], answer
            held = status_bytes(daemon, "VmHWM")
            print(f"1,000 actors: {held // MIB} MiB")
            assert held <= 2560 * MIB, held // MIB


if __name__ == "__main__":
    a_hog(sys.argv[1])
    a_thousand(sys.argv[1])
