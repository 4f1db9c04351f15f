#!/usr/bin/env bash
# The commands in docs/candid.md say what the page says: candid.sh BIN [--update]
BIN=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
source "$here/lib.sh"
cd "$work"

# An answer that cannot be written is no success.
printf 'service : { f : () -> () }' > full.did
for words in "hash a" "check full.did" "check --print full.did" "compatible full.did full.did" \
  "decode 4449444c0000" "encode ()" "json full.did f []"; do
  # shellcheck disable=SC2086
  to_nowhere() { moxzi candid $words > /dev/full; }
  expect_status "candid $words" 1 to_nowhere
done
# A pipe that nobody writes to is not waited for.
mkfifo pipe.did
expect_status "check of a pipe" 1 timeout 20 moxzi candid check pipe.did
printf 'import "pipe.did"' > importer.did
expect_status "import of a pipe" 1 timeout 20 moxzi candid check importer.did
expect_contains "import of a pipe" "importer.did:1:1: pipe.did" "$output"
# What is read is bounded: 1 MiB of a .did file, 64 MiB of standard input.
head -c 1048576 /dev/zero | tr '\0' ' ' > blank.did
expect_status "check of 1 MiB" 0 moxzi candid check blank.did
printf ' ' >> blank.did
expect_status "check of more" 1 moxzi candid check blank.did
expect_contains "check of more" "1048576" "$output"
endless() { tr '\0' ' ' < /dev/zero | timeout 60 moxzi candid "$@"; }
for words in "decode -" "encode -" "json full.did f -" "json --reply full.did f -"; do
  # shellcheck disable=SC2086
  expect_status "candid $words without end" 1 endless $words
  expect_contains "candid $words without end" "standard input: more than 67108864 bytes" "$output"
done

exec python3 "$here/console.py" "$here/../../docs/candid.md" "${@:2}"
