#!/usr/bin/env bash
# setup_vertex.sh [FOLDER]: makes a throw-away virtual environment with networkit, igraph and scipy, which
# bench/vertex.sh compares with. Prints the path of the python, last; fails where they cannot be installed.
set -euo pipefail
venv=${1:-${TMPDIR:-/tmp}/featblas-peers-vertex}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
python=$venv/bin/python
if ! "$python" -c 'import igraph, networkit, scipy' 2> /dev/null; then
    "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: numpy scipy networkit igraph >&2
    "$python" -c 'import igraph, networkit, scipy' >&2
fi
echo "peer: networkit igraph scipy" >&2
echo "$python"
