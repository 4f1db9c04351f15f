#!/usr/bin/env python3
"""docs/limits.md is made from base/limits.hpp and base/actor_limits.hpp. Exits 1 if it is not what
would be made now.

  limits.py            compare
  limits.py --write    write it anew
"""

import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SOURCES = [os.path.join(ROOT, "base", name) for name in ("limits.hpp", "actor_limits.hpp")]
PAGE = os.path.join(ROOT, "docs", "limits.md")

HEAD = """# Limits

Everything that has a bound has it here; this page is made from `base/limits.hpp` and
`base/actor_limits.hpp` (`python3 tests/tidy/limits.py --write`), and a test fails when they differ. A
limit with a flag names it. What is refused at a limit says which one in its message.
"""


def value_of(text):
    """A constant's number. The expressions are those of C++ that Python reads too, nearly."""
    text = text.replace("'", "")
    if re.fullmatch(r"0x[0-9a-fA-F.]+p\d+", text):
        return int(float.fromhex(text))
    text = re.sub(r"u?int\d+_t\{(\d+)\}", r"\1", text)
    text = re.sub(r"\b(\d+)(ull|ul|u|ll|l)\b", r"\1", text)
    if not re.fullmatch(r"[\d\s()<>*+\-]+", text):
        raise ValueError(f"no number: {text}")
    return int(eval(text))  # noqa: S307 -- digits and operators of our own header


def shown(name, number):
    """`2 MiB`, `10 s`, `2,000`."""
    if "bytes" in name and number >= 1024:
        for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
            if number >= size and number % size == 0:
                return f"{number // size:,} {unit}"
    if "bytes" in name:
        return f"{number:,} bytes"
    for ending, per_second in (("_ms", 1_000), ("_ns", 1_000_000_000)):
        if name.endswith(ending) and number >= per_second and number % per_second == 0:
            return f"{number // per_second:,} s"
    return f"{number:,}" + (" ms" if name.endswith("_ms") else "")


def rows(text):
    """(section, name, value, reason) of each constant; those under one comment share it."""
    section, reason, out = "", [], []
    fresh = True
    for statement in re.sub(r"=\n\s+", "= ", text).splitlines():
        if match := re.match(r"// -- (.*?) -+$", statement):
            section, reason = match.group(1), []
        elif statement.startswith("/// "):
            reason = ([] if fresh else reason) + [statement[4:]]
            fresh = False
        elif match := re.match(r"inline constexpr \w+ (\w+) = (.*);", statement):
            out.append((section, match.group(1), shown(match.group(1), value_of(match.group(2))),
                        " ".join(reason)))
            fresh = True
        elif not statement.strip():
            reason, fresh = [], True
    return out


def constants():
    """The constants of all sources, in their order."""
    found = []
    for path in SOURCES:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if "namespace moxzi::limits {" not in text:
            raise ValueError(f"{path} is not as it was")
        found += rows(text.split("namespace moxzi::limits {", 1)[1])
    return found


def page():
    lines, section, last = [HEAD], None, None
    for part, name, value, reason in constants():
        if part != section:
            title = part[:1].upper() + part[1:] or "Actors"
            lines.append(f"\n## {title}\n\n| limit | value | what for |\n|---|---|---|\n")
            section, last = part, None
        lines.append(f"| `{name}` | {value} | {reason if reason != last else ''} |\n")
        last = reason
    return "".join(lines)


def main():
    made = page()
    if "--write" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(made)
        return 0
    with open(PAGE, encoding="utf-8") as f:
        found = f.read()
    if found != made:
        print("docs/limits.md differs from base/*limits.hpp: run tests/tidy/limits.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
