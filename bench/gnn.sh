#!/usr/bin/env bash
# gnn.sh [options of the benchmarks]: the benchmark of graph neural networks. Builds, makes the environment of PyG
# and DGL once (bench/peers/setup_gnn.sh), prints tables and writes gnn.json. Cora is looked for in $FEATBLAS_DATA.
#
#   bench/gnn.sh                              everything, three times: hours on two cores; 16 GB of memory
#   bench/gnn.sh --only cora                  the small ones
#   bench/gnn.sh --repeats 1 --only reddit-gcn
#   FEATBLAS_PEERS=none bench/gnn.sh          without PyG and DGL
#   FEATBLAS_BENCH=/big/disk bench/gnn.sh     where the graphs and results go (1 GB)
set -euo pipefail
cd "$(dirname "$0")/.."
work=${FEATBLAS_BENCH:-${TMPDIR:-/tmp}/featblas-bench}
mkdir -p "$work"

scripts/install_packages.sh build
make --no-print-directory configure PRESET=release
cmake --build build/release --target bench_gnn featblas_command > "$work/build.log" ||
    { cat "$work/build.log"; exit 1; }

peers=()
if [ "${FEATBLAS_PEERS:-}" != none ]; then
    if python=$(bench/peers/setup_gnn.sh "$work/peers-dgl" | tail -1); then
        peers=(--python "$python" --peers bench/peers/gnn.py)
    else
        echo "no environment for PyG and DGL: their cases are skipped"
    fi
fi
# Our dense products divide the work themselves; OpenBLAS would start threads that spin and do nothing.
export OPENBLAS_NUM_THREADS=1
rm -f "$work/cora-gcn.safetensors" # serving: trained by the command that is measured
build/release/bench_gnn --work "$work" --command build/release/featblas --json "$work/gnn.json" "${peers[@]}" "$@"
echo "results: $work/gnn.json"
