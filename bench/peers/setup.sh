#!/usr/bin/env bash
# setup.sh [FOLDER]: makes a throw-away virtual environment with the libraries that bench/project compares
# with. Nothing of it is needed to build or test. A peer that cannot be installed is left out, with a word.
set -euo pipefail
venv=${1:-${TMPDIR:-/tmp}/featblas-peers}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
for packages in numpy scipy "mkl sparse_dot_mkl" similaripy sparse-dot-topn python-graphblas; do
    # shellcheck disable=SC2086
    if "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: $packages; then
        echo "peer: $packages"
    else
        echo "peer: $packages cannot be installed here, its cases are skipped"
    fi
done
echo "$venv/bin/python"
