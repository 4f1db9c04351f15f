# What the end-to-end scripts share. Source it with BIN set to the folder of the programs.
# Nothing waits for ever: every wait is for a condition, with a deadline.
# shellcheck shell=bash

set -euo pipefail

BIN=$(cd "$BIN" && pwd)
export PATH=$BIN:$PATH
work=$(mktemp -d)
daemons=()
deadline_s=60

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  for log in "$work"/*.log; do
    [ -f "$log" ] && sed "s|^|  $(basename "$log"): |" "$log" | tail -n 40 >&2
  done
  exit 1
}

cleanup() {
  local pid
  for pid in "${daemons[@]}"; do
    kill -9 "$pid" 2> /dev/null || true
  done
  rm -rf "$work"
}
trap cleanup EXIT

# wait_for WHAT COMMAND...: until the command succeeds.
wait_for() {
  local what=$1 end=$((SECONDS + deadline_s))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "waited $deadline_s s for $what"
    sleep 0.02
  done
}

# start_daemon NAME ARGUMENT...: runs moxzid in the working folder until it listens. Sets `daemon`
# (its process) and `url`.
start_daemon() {
  local log=$work/$1.log
  shift
  : > "$log"
  moxzid "$@" > "$log" 2>&1 &
  daemon=$!
  daemons+=("$daemon")
  listens_or_ended() { grep -q 'listening on http://' "$log" || ! kill -0 "$daemon" 2> /dev/null; }
  wait_for "moxzid to listen" listens_or_ended
  url=$(sed -n 's|.*listening on \(http://[0-9.:]*\).*|\1|p' "$log" | head -n 1)
  [ -n "$url" ] || fail "moxzid ended before it listened"
}

# stop_daemon: SIGTERM; it must end with status 0.
stop_daemon() {
  local status=0
  kill -TERM "$daemon"
  ended() { ! kill -0 "$daemon" 2> /dev/null; }
  wait_for "moxzid to stop" ended
  wait "$daemon" || status=$?
  [ "$status" -eq 0 ] || fail "moxzid ended with status $status"
}

# expect WHAT EXPECTED ACTUAL
expect() {
  [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# expect_status WHAT STATUS COMMAND...: its output goes to `output`.
expect_status() {
  local what=$1 wanted=$2 status=0
  shift 2
  output=$("$@" 2>&1) || status=$?
  expect "$what (status; it said: $output)" "$wanted" "$status"
}

expect_contains() {
  case $3 in
    *"$2"*) ;;
    *) fail "$1: expected '$2' in '$3'" ;;
  esac
}

# in_range WHAT LOW HIGH NUMBER
in_range() {
  awk -v x="$4" -v low="$2" -v high="$3" 'BEGIN { exit !(x != "" && x >= low && x <= high) }' \
    || fail "$1: $4 is not in [$2, $3]"
}
