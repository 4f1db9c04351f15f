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

# Looking without building.
mkdir -p "$work/look"
cd "$work/look"
printf 'persistent actor { public func f(x : ?Nat) : async Nat { 1 } }\n' > look.mo
expect_status "moxzi check" 0 moxzi check look.mo
expect_contains "moxzi check" "look.mo: no errors" "$output"
expect_contains "its warning" "look.mo:1:34: warning [M0194]" "$output"
expect_status "moxzi check, an error" 1 moxzi check ../errors/type.mo
expect_contains "moxzi check, an error" '../errors/type.mo:2:33: error [M0057]' "$output"
expect_status "moxzi did" 0 moxzi did look.mo
expect "moxzi did" "service : { f: (x: opt nat) -> (nat); }" "$(echo $output)"
expect "nothing written" "look.mo" "$(echo *)"
expect_status "moxzi id" 0 moxzi id letters
expect "moxzi id" "ewv6t-qxq3v-p445w-tscbq-cai" "$output"
expect_status "moxzi id of no name" 1 moxzi id a/b

# Packages that lie on this disk, and an actor that calls another one.
mkdir -p "$work/project/src" "$work/project/lib/src"
cd "$work/project"
printf '[dependencies]\nsums = "./lib"\ncore = "2.5.0"\n' > mops.toml
printf 'module { public func twice(n : Nat) : Nat { 2 * n } }\n' > lib/src/lib.mo
printf 'import Sums "mo:sums"; persistent actor { public func f(n : Nat) : async Nat { Sums.twice(n) } }\n' \
  > src/callee.mo
printf 'import Callee "canister:callee"; persistent actor {\n%s\n}\n' \
  '  public func g(n : Nat) : async Nat { await Callee.f(n) }' > src/caller.mo
expect_status "before the callee is there" 1 moxzi build src/caller.mo
expect_contains "before the callee is there" 'canister alias "callee" not defined' "$output"
expect_status "a package of mops.toml" 0 moxzi build src/callee.mo
expect_status "the caller" 0 moxzi build src/caller.mo
printf 'import A "bindings";\npersistent actor { public func h(a : A.Self) : async Nat { await a.f(1) } }\n' \
  > src/bound.mo
expect_status "moxzi bindings" 0 moxzi bindings src/callee.did -o src/bindings.mo
expect_status "what they say" 0 moxzi check src/bound.mo
expect_status "bindings of every kind of type" 0 moxzi bindings "$root/device/interface.did" -o device.mo
expect_status "as Motoko" 0 moxzi check device.mo

# An actor may be imported where it is used; the cache knows who it was.
printf 'import Callee "canister:callee"; module { public func one() : async Nat { await Callee.f(1) } }\n' \
  > src/through.mo
printf 'import T "through"; persistent actor { public func k() : async Nat { await T.one() } }\n' > src/indirect.mo
expect_status "an actor imported by a module" 0 moxzi build src/indirect.mo
rm src/indirect.wasm
expect_status "from the cache" 0 env PATH="$work/empty" "$BIN/moxzi" build src/indirect.mo
sed -i 's|"did": "src/callee.did"|"did": "src/callee.did", "id": "rwlgt-iiaaa-aaaaa-aaaaa-cai"|' actors.json
expect_status "the actor is another one" 1 env PATH="$work/empty" "$BIN/moxzi" build src/indirect.mo
expect_contains "the actor is another one" "install version 18 or newer" "$output"

# What a module says, and how diagnostics look.
expect_status "for everybody" 0 moxzi build src/callee.mo --public-metadata --no-manifest -o seen
expect_contains "for everybody" "icp:public motoko:stable-types" "$(strings -a seen/callee.wasm)"
expect_contains "for controllers" "icp:private motoko:stable-types" "$(strings -a src/callee.wasm)"
expect_status "without names" 0 moxzi build src/callee.mo --release --no-manifest -o small
[ "$(stat -c %s small/callee.wasm)" -lt $(($(stat -c %s src/callee.wasm) * 95 / 100)) ] ||
  fail "--release made no smaller module"
expect_status "only a check" 0 moxzi build src/callee.mo --check -o nothing
[ -e nothing ] && fail "--check wrote something"
printf 'persistent actor {\n  public func f() : async Nat { ignore "ü"; nope }\n}\n' > wide.mo
expect_status "human" 1 moxzi build wide.mo --error-format human
expect "human" "wide.mo:2:46: error [M0057] unbound variable nope
  2 |   public func f() : async Nat { ignore \"ü\"; nope }
    |                                             ^^^^" "$output"
expect_status "json" 1 moxzi build wide.mo --error-format json
expect "json" '{"file":"wide.mo","line":2,"column":46,"end_line":2,"end_column":50,"severity":"error","code":"M0057","message":"unbound variable nope"}' "$output"
expect_status "a flag for the compiler" 1 moxzi build ../look/look.mo --moc-flag=-Werror --no-manifest -o nothing
expect_contains "a flag for the compiler" "warning [M0194]" "$output"
expect_status "two of them" 1 moxzi build ../look/look.mo --moc-flag=-E --moc-flag=M0194 --no-manifest -o nothing
expect_contains "two of them" "error [M0194]" "$output"
expect_status "a flag that it does not know" 1 moxzi build src/callee.mo --moc-flag=--nope
expect "a flag that it does not know" "--moc-flag: unknown option '--nope'." "$output"
expect_status "both" 2 moxzi build src/callee.mo --release --debug
printf 'import Nat "mo:base/Nat"; persistent actor { }\n' > older.mo
expect_status "a package that is not here" 1 moxzi build older.mo
expect_contains "a package that is not here" "--package base DIR" "$output"

# Stable variables must live on.
printf 'persistent actor { var total : Nat = 0; public func f() : async Nat { total } }\n' > keep.mo
expect_status "the first version" 0 moxzi build keep.mo
cp keep.most old.most
before=$(sha256sum keep.wasm)
printf 'persistent actor { var total : Text = ""; public func f() : async Text { total } }\n' > keep.mo
expect_status "a version that loses data" 1 moxzi build keep.mo
expect_contains "a version that loses data" "[M0170]" "$output"
expect_contains "what to do" "--force" "$output"
expect_contains "what it was compared with" "compared with is keep.most" "$output"
expect "nothing was written" "$before" "$(sha256sum keep.wasm)"
expect_status "by force" 0 moxzi build keep.mo --force
expect_status "moxzi upgrade-check" 1 moxzi upgrade-check old.most keep.most
expect_contains "moxzi upgrade-check" "keep.most: error [M0170]" "$output"
expect_status "moxzi upgrade-check, the same" 0 moxzi upgrade-check old.most old.most
expect "moxzi upgrade-check, the same" "compatible" "$output"

# A name that a shell would take apart.
cd "$work"
expect_status "moxzi new" 0 moxzi new "a b"
expect_contains "moxzi new" "moxzi build 'a b.mo'" "$output"
expect_contains "its README" "call-json/a%20b/learn" "$(cat "a b/README.md")"

# The command line.
cd "$work/parts"
expect_status "no command" 2 moxzi
expect_status "an unknown command" 2 moxzi biuld main.mo
expect_contains "an unknown command" "did you mean 'build'?" "$output"
expect_status "an unknown option" 2 moxzi build main.mo --packge two package
expect_contains "an unknown option" "unknown option '--packge'; did you mean '--package'?" "$output"
expect_status "half an option" 2 moxzi build main.mo --out x
expect_contains "half an option" "unknown option '--out'; did you mean '--out-dir'?" "$output"
expect_status "help" 0 moxzi build --help
expect_status "the version" 0 moxzi --version
expect_status "a call to nobody" 1 moxzi call a m --url http://127.0.0.1:1
expect_contains "a call to nobody" "is moxzid running?" "$output"
if ldd "$BIN/moxzi" | grep -E 'torch|libcaf'; then
  fail "moxzi links what it should start without"
fi
