#!/usr/bin/env bash
# sample.sh [GRAPH...]: neighbourhoods of seeds beside DGL and GraphBolt, one thread and two. Builds, makes the other
# libraries' environment once (bench/peers/setup_dgl.sh) and the graphs, and prints a table for each.
#
#   bench/sample.sh                                products-like, reddit-like and arxiv-like: 20 minutes; 10 GB of memory
#   FEATBLAS_ROUNDS=1 bench/sample.sh arxiv-like   one graph, once
#   FEATBLAS_BENCH=/big/disk bench/sample.sh       where the graphs and the environment go (8 GB)
set -euo pipefail
cd "$(dirname "$0")/.."
work=${FEATBLAS_BENCH:-${TMPDIR:-/tmp}/featblas-bench}
mkdir -p "$work"
[ $# -gt 0 ] || set -- products-like reddit-like arxiv-like
scripts/install_packages.sh build
make --no-print-directory configure PRESET=release
cmake --build build/release --target bench_sample featblas_command > "$work/build.log" || { cat "$work/build.log"; exit 1; }
python=$(bench/peers/setup_dgl.sh "$work/peers-dgl" | tail -1)
for graph in "$@"; do
    [ -f "$work/$graph.npz" ] || build/release/featblas gen "$graph" -o "$work/$graph.npz"
    for threads in 1 2; do
        "$python" bench/peers/sampling.py build/release/bench_sample "$work/$graph.npz" "$threads" "${FEATBLAS_ROUNDS:-3}"
    done
done
