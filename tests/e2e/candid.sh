#!/usr/bin/env bash
# The commands in docs/candid.md say what the page says: candid.sh BIN [--update]
BIN=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
source "$here/lib.sh"
cd "$work"
exec python3 "$here/console.py" "$here/../../docs/candid.md" "${@:2}"
