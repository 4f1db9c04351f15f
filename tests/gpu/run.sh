#!/usr/bin/env bash
# The checks for a machine with a GPU: tests/gpu/run.sh BIN, where BIN holds the built programs and
# plugins (default build/release/bin). Without a GPU it says why and succeeds.
#
# On a machine other than the one it was built on, copy BIN with the shared libraries it needs and
# point LD_LIBRARY_PATH at the `lib` of a torch 2.11.0 for CUDA 13 and at the `lib` folders of the
# nvidia packages beside it; MOXZI_TORCH_SITE=<site-packages> does both.
set -euo pipefail
bin=$(realpath "${1:-build/release/bin}")
if [ -n "${MOXZI_TORCH_SITE:-}" ]; then
  paths=$(printf '%s:' "$MOXZI_TORCH_SITE"/torch/lib "$MOXZI_TORCH_SITE"/nvidia/*/lib)
  export LD_LIBRARY_PATH="$bin:$paths${LD_LIBRARY_PATH:-}"
fi
if [ ! -x "$bin/gpu_tests" ]; then
  echo "tests/gpu: no $bin/gpu_tests: build it first (cmake --build --preset release)" >&2
  exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
timeout 480 "$bin/gpu_tests" --gtest_color=no | tee "$log" || status=$?
if [ "$status" = 0 ] && ! grep -q '^\[       OK' "$log"; then
  echo "skipped: $(grep -m1 -- '--device cuda:0' "$log" || echo 'no GPU')"
fi
exit "$status"
