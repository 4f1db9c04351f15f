#!/usr/bin/env bash
# make fuzz TARGET=NAME SECONDS=60: one fuzzer on its kept corpus; a crashing input stays in
# build/fuzz/. Without a name, lists the fuzzers.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${1:-}
seconds=${2:-60}
if [ -z "$target" ]; then
  echo "fuzzers: $(ls tests/fuzz/*.cpp | xargs -n 1 basename -s .cpp | tr '\n' ' ')"
  exit 2
fi
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target "fuzz_$target"
mkdir -p "build/fuzz/corpus/$target"
seeds=(tests/fuzz/corpus/"$target")
if [ "$target" = shapescript_source ]; then seeds+=(tests/golden/shapescript/sound); fi
exec "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 \
  -report_slow_units=1 -artifact_prefix="build/fuzz/$target-" \
  "build/fuzz/corpus/$target" "${seeds[@]}"
