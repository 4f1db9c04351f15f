#!/usr/bin/env bash
# The files for Vim: a program is recognised, coloured, checked by :make and kept by re-indenting.
#   vim.sh PROGRAM
set -uo pipefail
cd "$(dirname "$0")/../../.."
program=$1
if ! vim --version 2> /dev/null | grep -q '+eval'; then
  echo "skipped: no vim with +eval"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

cat > "$work/run.vim" << EOF
set nocompatible
set runtimepath^=$PWD/shapescript/editors/vim
filetype plugin indent on
syntax on
let \$PATH = '$(dirname "$program"):' . \$PATH
EOF

# Runs Vim on a file with more commands.
edit() {
  cp "$work/run.vim" "$work/this.vim"
  printf '%s\n' "edit $1" "${@:2}" 'qa!' >> "$work/this.vim"
  timeout 60 vim -u NONE -es -S "$work/this.vim" < /dev/null > /dev/null 2>&1
}

for file in tests/golden/shapescript/chapter/train.ss tests/golden/shapescript/sound/*.ss; do
  "$program" fmt --check "$file" > /dev/null 2>&1 || continue
  cp "$file" "$work/a.ss"
  edit "$work/a.ss" 'normal gg=G' 'write!'
  if ! diff "$file" "$work/a.ss"; then
    echo "$file: re-indenting changes it"
    failed=1
  fi
done

edit tests/golden/shapescript/chapter/split_python.ss "redir! > $work/seen" \
  'echo &filetype synIDattr(synID(1, 1, 1), "name")' 'silent make' \
  'for one in getqflist() | echo one.lnum one.col one.type | endfor' 'redir END'
grep -q '^shapescript shapescriptDeclaration$' "$work/seen" || { cat "$work/seen"; failed=1; }
grep -q '^11 32 E$' "$work/seen" || { cat "$work/seen"; failed=1; }
exit $failed
