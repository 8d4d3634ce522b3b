#!/usr/bin/env bash
# setup_gnn.sh [FOLDER]: makes a throw-away virtual environment with PyTorch Geometric and DGL, which bench/peers/gnn.py
# times and bench/peers/pyg_models.py saves models with. It is setup_dgl.sh's (6 GB; CPython 3.8 to 3.12), which may be
# given as FOLDER, and more. Of what PyG takes to be faster, torch_scatter comes as source and takes minutes: it is
# compiled where FEATBLAS_PEERS_COMPILE is set. Left out: torch_sparse,
# whose 23 files take half an hour and instead of which gnn.py uses torch's own sparse matrices, as PyG itself does
# with it on CPUs; pyg_lib, which the package index does not have. Prints the path of the python, last.
set -euo pipefail
venv=${1:-${TMPDIR:-/tmp}/featblas-peers-gnn}
python=$("$(dirname "$0")/setup_dgl.sh" "$venv" | tail -1)
install() { "$python" -m pip install --quiet --disable-pip-version-check "$@" >&2; }
if ! "$python" -c 'import safetensors, torch_geometric' 2> /dev/null; then
    install --only-binary :all: 'torch_geometric<3' safetensors 'numpy<2'
    "$python" -c 'import dgl, safetensors, torch_geometric' >&2
fi
if [ -n "${FEATBLAS_PEERS_COMPILE:-}" ] && ! "$python" -c 'import torch_scatter' 2> /dev/null; then
    install 'setuptools<81' wheel ninja
    PATH=$venv/bin:$PATH FORCE_ONLY_CPU=1 CFLAGS=-g0 install --no-build-isolation --no-deps torch_scatter==2.1.2 ||
        echo "peer: torch_scatter cannot be compiled here" >&2
fi
echo "peer: pyg dgl" >&2
echo "$python"
