#!/usr/bin/env bash
# Installs the package from a build folder into BUILD/native/prefix and builds examples/native
# against it, as a project of its own.
#   build.sh BUILD_FOLDER SOURCE_FOLDER [COMPILER_LAUNCHER]
set -euo pipefail

build=$1 source=$2 launcher=${3:-}
work=$build/native
rm -rf "$work/prefix" "$work/source"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"
# A copy, so that nothing of the checkout is near.
cp -r "$source/examples/native" "$work/source"
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" > "$work/configure.log"
cmake --build "$work/build" -j 2
