#!/usr/bin/env bash
# Installs what versions.txt lists and this machine lacks, and nothing else.
#   install.sh            install
#   install.sh --check    only say what is missing (exit 1 if anything is)
#   install.sh --peers    install what only `make bench` uses
# MOXZI_DEPS (default <checkout>/.deps) is where everything but the Debian packages goes; several
# checkouts may share one.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
deps=${MOXZI_DEPS:-$root/.deps}
list=$here/versions.txt
check_only=false
[ "${1:-}" = --check ] && check_only=true
missing=0

say() { printf 'deps: %s\n' "$*"; }
fail() {
  printf 'deps: %s\n' "$*" >&2
  exit 1
}
rows() { awk -v kind="$1" '$1 == kind { print $2, $3 }' "$list"; }
version_of() { rows "$1" | awk -v name="$2" '$1 == name { print $2 }'; }

# --- what must be there before ----------------------------------------------------------------

need() { command -v "$1" > /dev/null || fail "'$1' is needed first: $2"; }

check_prerequisites() {
  [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "moxzi builds on Linux x86-64 only"
  need apt-get "moxzi is built on Debian 12 or a distribution with its packages"
  need python3 "install Python 3.11 or newer with pip and venv"
  need cargo "install Rust 1.82 or newer (it brings the engine's C headers; nothing is compiled)"
  need node "install Node.js 18 or newer (the Motoko compiler runs on it)"
  need npm "it comes with Node.js"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
    || fail "python3 is $(python3 -V 2>&1); 3.11 or newer is needed"
  [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] \
    || fail "node is $(node -v); 18 or newer is needed"
}

# --- Debian packages --------------------------------------------------------------------------

apt_missing() {
  local name version have
  while read -r name version; do
    have=$(dpkg-query -W -f='${db:Status-Abbrev} ${Version}' "$name" 2> /dev/null || true)
    # shellcheck disable=SC2053  # the version is a pattern
    if [[ $have != "ii "* || ${have#ii  } != $version ]]; then
      if [ "$version" = '*' ]; then echo "$name"; else echo "$name=$version"; fi
    fi
  done < <(rows apt)
}

install_apt() {
  local -a want
  mapfile -t want < <(apt_missing)
  [ ${#want[@]} -eq 0 ] && return
  missing=$((missing + ${#want[@]}))
  say "Debian packages: ${want[*]}"
  $check_only && return
  local -a as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      fail "not root and no sudo; run this as root, then make deps again:
  apt-get update && apt-get install -y --no-install-recommends ${want[*]@Q}"
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${want[@]}" > /dev/null
}

# --- Python packages: libtorch and the CUDA headers, the wasm engine ----------------------------

# install_pip KIND VENV
install_pip() {
  local kind=$1 venv=$2 name version
  local -a want=()
  while read -r name version; do
    [ -d "$venv" ] && compgen -G "$venv/lib/python3*/site-packages/${name//-/_}-$version*.dist-info" \
      > /dev/null || want+=("$name==$version")
  done < <(rows "$kind")
  [ ${#want[@]} -eq 0 ] && return
  missing=$((missing + ${#want[@]}))
  say "Python packages: ${want[*]}"
  $check_only && return
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --no-input --no-compile \
    --disable-pip-version-check "${want[@]}"
}

# --- the wasm engine's C headers, of the library's own version ----------------------------------

install_engine_headers() {
  local version out=$deps/wasmtime
  version=$(version_of crate wasmtime-c-api-impl)
  [ "$version" = "$(version_of pip wasmtime)" ] \
    || fail "versions.txt: wasmtime and wasmtime-c-api-impl must be of one version"
  [ "$(cat "$out/VERSION" 2> /dev/null)" = "$version" ] && return
  missing=$((missing + 1))
  say "engine headers: wasmtime-c-api-impl $version"
  $check_only && return
  local work
  work=$(mktemp -d)
  mkdir -p "$work/src"
  : > "$work/src/lib.rs"
  printf '[package]\nname = "headers"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n' \
    > "$work/Cargo.toml"
  printf 'wasmtime-c-api-impl = "=%s"\n' "$version" >> "$work/Cargo.toml"
  cargo fetch --quiet --manifest-path "$work/Cargo.toml"
  local crate
  crate=$(compgen -G "${CARGO_HOME:-$HOME/.cargo}/registry/src/*/wasmtime-c-api-impl-$version" | head -n 1)
  rm -rf "$out" "$work"
  mkdir -p "$out"
  cp -r "$crate/include" "$out/include"
  # The wheel's library is built with every feature, so every feature macro is defined.
  sed 's/^#cmakedefine \([A-Z0-9_]*\).*/#define \1/' "$out/include/wasmtime/conf.h.in" \
    > "$out/include/wasmtime/conf.h"
  echo "$version" > "$out/VERSION"
}

# --- npm: the Motoko compiler -------------------------------------------------------------------

install_npm() {
  local name version
  local -a want=()
  while read -r name version; do
    [ "$(node -p "require('$deps/npm/node_modules/$name/package.json').version" 2> /dev/null)" \
      = "$version" ] || want+=("$name@$version")
  done < <(rows npm)
  [ ${#want[@]} -eq 0 ] && return
  missing=$((missing + ${#want[@]}))
  say "npm packages: ${want[*]}"
  $check_only && return
  mkdir -p "$deps/npm"
  npm install --silent --no-audit --no-fund --no-package-lock --prefix "$deps/npm" "${want[@]}"
}

check_prerequisites
if [ "${1:-}" = --peers ]; then
  install_pip peer "$deps/peers/venv" >&2
  exit
fi
install_apt
install_pip pip "$deps/venv"
install_engine_headers
install_npm
if [ "$missing" -eq 0 ]; then
  say "everything is there ($deps)"
elif $check_only; then
  exit 1
else
  say "ready ($deps)"
fi
