#!/usr/bin/env bash
# The long runs: every fuzzer for FUZZ_SECONDS (600), random device programs and the mutations of
# ShapeScript programs by the release build, strangers at the front door, then the tests under both
# sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."
for target in $(ls tests/fuzz/*.cpp | xargs -n 1 basename -s .cpp); do
  echo "== fuzz $target, ${FUZZ_SECONDS:-600} s"
  tests/fuzz/run.sh "$target" "${FUZZ_SECONDS:-600}" 2>&1 | tail -n 3
done
echo "== device programs, 1,000,000 of them"
MOXZI_MUTATIONS=1000000 build/release/bin/device_tests --gtest_filter='random_programs.*' | tail -n 4
echo "== ShapeScript, 200,000 mutations and 200,000 slips of the keys"
MOXZI_MUTATIONS=200000 build/release/bin/shapescript_tests --gtest_filter='mutation.*' \
  | grep -E '^(seed|\[ +(PASSED|FAILED))'
echo "== strangers, 10,000 malformed requests, 1,000 slow connections for 60 s"
tests/e2e/strangers.py build/release/bin --malformed 10000 --slow 1000 --seconds 60 --verdict
for preset in asan tsan; do
  echo "== tests, $preset"
  [ -f build/$preset/build.ninja ] || cmake --preset $preset > /dev/null
  cmake --build --preset $preset
  ctest --preset $preset
done
