#!/usr/bin/env bash
# setup_dgl.sh [FOLDER]: makes a throw-away virtual environment with DGL and scipy, which bench/blocks.sh compares
# with. Apart from setup.sh's, since DGL 2.1.0 wants older releases than the other libraries. It takes 6 GB, most of
# it what torch brings along for GPUs. Prints the path of the python, last; fails where DGL cannot be installed
# (its wheels are for CPython 3.8 to 3.12).
set -euo pipefail
venv=${1:-${TMPDIR:-/tmp}/featblas-peers-dgl}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
python=$venv/bin/python
if ! "$python" -c 'import dgl, scipy' 2> /dev/null; then
    "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
        dgl==2.1.0 torch==2.2.1 torchdata==0.7.1 'numpy<2' scipy pandas pydantic pyyaml >&2
    "$python" -c 'import dgl, scipy' >&2
fi
echo "peer: dgl scipy" >&2
echo "$python"
