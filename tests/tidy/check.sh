#!/usr/bin/env bash
# One OK or FAILED line per habit; exits 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/../.."
failed=0

item() {
  local name=$1 log
  shift
  log=$(mktemp)
  if "$@" > "$log" 2>&1; then
    printf 'OK      %s\n' "$name"
  else
    printf 'FAILED  %s\n' "$name"
    sed 's/^/        /' "$log" | head -n 60
    failed=1
  fi
  rm -f "$log"
}

format() {
  git ls-files '*.cpp' '*.hpp' | xargs clang-format-14 --dry-run -Werror
}

headers() {
  [ -f build/release/build.ninja ] || cmake --preset release
  cmake --build --preset release --target headers
}

item format format
item "layers, sizes, words (tests/tidy/tidy.py)" python3 tests/tidy/tidy.py
item "every header compiles alone" headers
item "links in the docs" python3 tests/tidy/links.py
item "shell scripts parse" bash -c 'git ls-files "*.sh" .ci/run | xargs -n 1 bash -n'
exit $failed
