#!/usr/bin/env bash
# make demo: builds the example actor, hosts it with a CPU device, and trains it over HTTP. The last
# line is the answer. demo.sh BIN
BIN=${1:?usage: demo.sh BIN}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source-path=SCRIPTDIR
. "$root/tests/e2e/lib.sh"

say() { printf '\n$ %s\n' "$*"; }

cp "$root/examples/letters/letters.mo" "$work"
cd "$work"
say moxzi build letters.mo
moxzi build letters.mo || fail "the example does not build"
say moxzid -m actors.json --device burn:cpu
start_daemon moxzid -m actors.json --device burn:cpu --port 0
cat "$work/moxzid.log"
say curl -s -w "'\\n'" -d "'[200]'" "$url/call-json/letters/learn"
answer=$(curl -s -m "$deadline_s" -w '\n' -d '[200]' "$url/call-json/letters/learn") \
  || fail "no answer"
stop_daemon
printf '%s\n' "$answer"
case $answer in
  '[{"first":'*) ;;
  *) exit 1 ;;
esac
