#!/usr/bin/env python3
"""Every relative link in a Markdown file leads to a file, and every page under docs/ is linked."""

import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def main():
    out = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True,
                         check=True)
    pages = [p for p in out.stdout.splitlines() if os.path.exists(os.path.join(ROOT, p))]
    broken, linked = [], set()
    for page in pages:
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            text = f.read()
        text = re.sub(r"```.*?```", "", text, flags=re.S)
        text = re.sub(r"(?<!\[)`[^`\n]+`", "", text)  # code, but not a link's own words
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", link) or link.startswith("#"):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(page), link.split("#")[0]))
            linked.add(target)
            if not os.path.exists(os.path.join(ROOT, target)):
                broken.append(f"{page}: no such file: {link}")
    for page in pages:
        if page.startswith("docs/") and page not in linked:
            broken.append(f"{page}: no page links here")
    print("\n".join(broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
