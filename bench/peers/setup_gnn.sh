#!/usr/bin/env bash
# setup_gnn.sh [FOLDER]: makes a throw-away virtual environment with PyTorch Geometric and DGL, which bench/peers/gnn.py
# times and bench/peers/pyg_models.py saves models with. It is setup_dgl.sh's (6 GB; CPython 3.8 to 3.12), which may be
# given as FOLDER, and more. torch_scatter and torch_sparse, with which PyG is faster on attention, come as source:
# they are compiled where FEATBLAS_PEERS_COMPILE is set (a C++ compiler, 25 minutes of CPU time) and else left out, as
# is pyg_lib, which the package index does not have. Prints the path of the python, last.
set -euo pipefail
venv=${1:-${TMPDIR:-/tmp}/featblas-peers-gnn}
python=$("$(dirname "$0")/setup_dgl.sh" "$venv" | tail -1)
install() { "$python" -m pip install --quiet --disable-pip-version-check "$@" >&2; }
if ! "$python" -c 'import safetensors, torch_geometric' 2> /dev/null; then
    install --only-binary :all: 'torch_geometric<3' safetensors 'numpy<2'
    "$python" -c 'import dgl, safetensors, torch_geometric' >&2
fi
if [ -n "${FEATBLAS_PEERS_COMPILE:-}" ] && ! "$python" -c 'import torch_scatter, torch_sparse' 2> /dev/null; then
    install 'setuptools<81' wheel ninja
    PATH=$venv/bin:$PATH FORCE_ONLY_CPU=1 CFLAGS=-g0 install --no-build-isolation --no-deps \
        torch_scatter==2.1.2 torch_sparse==0.6.18 || echo "peer: torch_sparse cannot be compiled here" >&2
fi
echo "peer: pyg dgl" >&2
echo "$python"
