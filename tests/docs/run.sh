#!/usr/bin/env bash
# run.sh BUILD CC SANITIZE: executes the documents (check_docs.py), with the build installed in a scratch folder.
#
# Labels: cli
set -euo pipefail
build=$1 cc=$2 sanitize=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# One that has scipy, for the documents' Python; else any.
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import numpy, scipy' 2> /dev/null && break
done
[ "$python" != none ] || python=python3
if [ "${CI:-}" = true ]; then "$python" -c 'import numpy, scipy'; fi

cmake --install "$build" --prefix "$scratch/prefix" > /dev/null
libdir=$(dirname "$(find "$scratch/prefix" -name 'libfeatblas.so' -o -name 'libfeatblas.dylib' | head -1)")
export LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PKG_CONFIG_PATH=$libdir/pkgconfig
export CMAKE_PREFIX_PATH=$scratch/prefix
# graphviz keeps memory until the end, and so do fragments.
# One thread: more would wait for one another where graphs are so small.
export OMP_NUM_THREADS=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
mkdir "$scratch/bin"
# What the documents call cc.
printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$cc" "${sanitize:+-fsanitize=$sanitize}" > "$scratch/bin/cc"
chmod +x "$scratch/bin/cc"
export CC=$scratch/bin/cc PATH=$scratch/bin:$scratch/prefix/bin:$PATH
export FEATBLAS_BUILD=$build FEATBLAS_SOURCE_DIR=${FEATBLAS_SOURCE_DIR:-$here/../..} PYTHONDONTWRITEBYTECODE=1
"$python" "$here/check_docs.py" "$scratch"
