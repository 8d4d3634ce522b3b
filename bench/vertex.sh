#!/usr/bin/env bash
# vertex.sh [--peer ROW:NAME=COMMAND]... [GRAPH...]: vertex programs beside networkit, igraph and scipy, one thread and
# two, and beside any other program that prints its seconds (bench/peers/vertex.py). Builds, makes the other libraries'
# environment once (bench/peers/setup_vertex.sh) and the graphs, and prints a table for each.
#
#   bench/vertex.sh                                     kron: 15 minutes; 12 GB of memory
#   FEATBLAS_SCALE=16 bench/vertex.sh kron uniform road graphs of 2^16 vertices (road: four times as many)
#   bench/vertex.sh --peer 'bfs:GAP=./bfs -f kron.sg' kron
#   FEATBLAS_BENCH=/big/disk bench/vertex.sh            where the graphs and the environment go
set -euo pipefail
cd "$(dirname "$0")/.."
work=${FEATBLAS_BENCH:-${TMPDIR:-/tmp}/featblas-bench} scale=${FEATBLAS_SCALE:-20} peers=() graphs=()
while [ $# -gt 0 ]; do
    case $1 in
        --peer) peers+=(--peer "$2"); shift 2 ;;
        *) graphs+=("$1"); shift ;;
    esac
done
[ ${#graphs[@]} -gt 0 ] || graphs=(kron)
mkdir -p "$work"
scripts/install_packages.sh build
make --no-print-directory configure PRESET=release
cmake --build build/release --target bench_vertex featblas_command > "$work/build.log" || { cat "$work/build.log"; exit 1; }
python=$(bench/peers/setup_vertex.sh "$work/peers-vertex" | tail -1)
for graph in "${graphs[@]}"; do
    case $graph in
        kron) made=(rmat --scale "$scale" --symmetric --permute) ;;
        uniform) made=(rmat --scale "$scale" --a 0.25 --b 0.25 --c 0.25 --symmetric) ;;
        road) made=(road-like --vertices $((4 << scale))) ;;
        *) echo "vertex.sh: '$graph'; expected kron, uniform or road" >&2; exit 2 ;;
    esac
    file=$work/$graph$scale.npz
    [ -f "$file" ] || build/release/featblas gen "${made[@]}" -o "$file"
    for threads in 1 2; do
        "$python" bench/peers/vertex.py build/release/bench_vertex "$file" "$threads" "${FEATBLAS_ROUNDS:-3}" "${peers[@]}"
    done
done
