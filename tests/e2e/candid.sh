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

exec python3 "$here/console.py" "$here/../../docs/candid.md" "${@:2}"
