#!/usr/bin/env bash
# The page's commands, typed as printed, in an empty folder; and the page's answer. letters.sh BIN
BIN=${1:?usage: letters.sh BIN}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source-path=SCRIPTDIR
. "$root/tests/e2e/lib.sh"

# check_answer TEXT: first and last in the bands that independent runs of the program fall into.
check_answer() {
  [[ $1 =~ ^\[\{\"first\":([0-9.]+),\"last\":([0-9.]+)\}\]$ ]] || fail "unexpected answer: $1"
  in_range first 5.49 5.60 "${BASH_REMATCH[1]}"
  in_range last 0.8759 0.8763 "${BASH_REMATCH[2]}"
}

mkdir "$work/project"
cd "$work/project"
cp "$root/examples/letters/letters.mo" .

moxzi build letters.mo > "$work/build.log" 2>&1 || fail "moxzi build letters.mo"
expect "what the build wrote" \
  "actors.json letters.did letters.mo letters.most letters.wasm" "$(echo *)"

# On the page's own port where it is free, else on any.
port=(--port 0)
if ! (exec 3<> /dev/tcp/127.0.0.1/7000) 2> /dev/null; then
  port=()
fi
start_daemon first -m actors.json --device burn:cpu "${port[@]}"
if [ ${#port[@]} -eq 0 ]; then
  expect "the default address" http://127.0.0.1:7000 "$url"
fi
first=$(curl -s -w '\n' -d '[200]' "$url/call-json/letters/learn")
check_answer "$first"
expect "health" '{"status":"ok"}' "$(curl -s "$url/health")"
expect "the content type" "application/json" \
  "$(curl -s -o /dev/null -w '%{content_type}' -d '[1]' "$url/call-json/letters/learn")"
stop_daemon

# A second daemon gives the same digits; so does the client of our own.
start_daemon second -m actors.json --device burn:cpu --port 0
second=$(moxzi call letters learn '[200]' --url "$url")
expect "the answer of a second daemon" "$first" "$second"
stop_daemon

# Without a device the actor is told so, and the caller sees the code.
start_daemon third -m actors.json --port 0
expect_status "a call without a device" 1 moxzi call letters learn '[1]' --url "$url"
expect_contains "a call without a device" MXD001 "$output"
stop_daemon
printf '%s\n' "$first"
