#!/usr/bin/env bash
# moxzi build and moxzi new with the real compiler. build.sh BIN
BIN=${1:?usage: build.sh BIN}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source-path=SCRIPTDIR
. "$root/tests/e2e/lib.sh"

export XDG_CACHE_HOME=$work/cache
cd "$work"

# A new project builds as it is.
expect_status "moxzi new" 0 moxzi new first
expect "what moxzi new made" "README.md first.mo mops.toml" "$(cd first && echo *)"
expect_status "moxzi new, twice" 1 moxzi new first
expect_contains "moxzi new, twice" "first: is there already" "$output"
cd first
expect_status "the first build" 0 moxzi build first.mo
expect "its last line" \
  "first: first.wasm, first.did, first.most; listed in actors.json" "${output##*$'\n'}"
expect "the module's magic number" "0061736d" "$(od -An -N4 -tx1 first.wasm | tr -d ' \n')"
expect_contains "the interface" \
  "learn: (steps: nat) -> (record {first: float64; last: float64;})" \
  "$(tr -s ' \n' ' ' < first.did | sed 's/ }/}/g; s/record { /record {/g')"

# An unchanged source is not compiled again: it works even without node.
sum=$(sha256sum first.wasm)
rm first.wasm
mkdir "$work/empty"
expect_status "a build from the cache" 0 env PATH="$work/empty" "$BIN/moxzi" build first.mo
expect "the module from the cache" "$sum" "$(sha256sum first.wasm)"
sed -i 's/hello again/hello world/' first.mo
expect_status "a build without node" 1 env PATH="$work/empty" "$BIN/moxzi" build first.mo
expect_contains "a build without node" "install version 18 or newer" "$output"

# Errors as the compiler gives them, with file, line and column; everything stays as it was.
mkdir -p "$work/errors"
cd "$work/errors"
printf 'persistent actor {\n  public func f() : async Nat { nope }\n}\n' > type.mo
printf 'persistent actor {\n  public func f( {\n' > syntax.mo
printf 'import X "missing";\npersistent actor { }\n' > import.mo
printf 'module { }\n' > module.mo
echo '["kept.wasm"]' > actors.json
for case in 'type.mo:2:33: error [M0057]' 'syntax.mo:3:1: error [M0001]' \
  'import.mo:1:1: error [M0009]' 'module.mo:1:1: error: there is no actor'; do
  expect_status "moxzi build ${case%%:*}" 1 moxzi build "${case%%:*}"
  expect_contains "moxzi build ${case%%:*}" "$case" "$output"
  case $output in *'.js:'* | *'    at '*) fail "a stack trace: $output" ;; esac
done
cd ..
expect_status "a path in front" 1 moxzi build errors/type.mo
expect_contains "a path in front" 'errors/type.mo:2:33: error [M0057]' "$output"
expect "the manifest after errors" '["kept.wasm"]' "$(cat errors/actors.json)"

# Imports beside the source, a package, another name and folder.
mkdir -p "$work/parts/lib" "$work/parts/package"
cd "$work/parts"
printf 'module { public let x = 1 }\n' > lib/one.mo
printf 'module { public let y = 2 }\n' > package/lib.mo
printf 'import One "lib/one";\nimport Two "mo:two";\npersistent actor {\n%s\n}\n' \
  '  public query func sum() : async Nat { One.x + Two.y }' > main.mo
expect_status "imports" 0 moxzi build main.mo --package two package -o out -n sum
expect "where it went" "out/sum.did out/sum.most out/sum.wasm" "$(echo out/*)"
expect_contains "the manifest" '"wasm": "out/sum.wasm"' "$(cat actors.json)"
printf 'module { public let x = "text" }\n' > lib/one.mo
expect_status "a changed import" 1 moxzi build main.mo --package two package -o out -n sum
expect_contains "a changed import" 'main.mo:4:' "$output"

# The command line.
expect_status "no command" 2 moxzi
expect_status "an unknown command" 2 moxzi biuld main.mo
expect_contains "an unknown command" "did you mean 'build'?" "$output"
expect_status "an unknown option" 2 moxzi build main.mo --packge two package
expect_contains "an unknown option" "unknown option '--packge'; did you mean '--package'?" "$output"
expect_status "help" 0 moxzi build --help
expect_status "the version" 0 moxzi --version
expect_status "a call to nobody" 1 moxzi call a m --url http://127.0.0.1:1
expect_contains "a call to nobody" "is moxzid running?" "$output"
if ldd "$BIN/moxzi" | grep -E 'torch|libcaf'; then
  fail "moxzi links what it should start without"
fi
