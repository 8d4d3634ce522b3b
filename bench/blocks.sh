#!/usr/bin/env bash
# blocks.sh [options of the benchmarks]: the benchmarks of feature blocks, bench_spmm, bench_sddmm and
# bench_attention. Builds, makes the environments of the other libraries once (bench/peers/setup.sh for MKL,
# setup_dgl.sh for DGL and scipy), prints tables and writes spmm.json, sddmm.json and attention.json.
#
#   bench/blocks.sh                                 everything, three times: hours on two cores; 16 GB of memory
#   bench/blocks.sh --repeats 1 --only rand-100k    one graph, once
#   FEATBLAS_BLOCKS=spmm bench/blocks.sh            one of the three; plans: the planner beside forced plans
#   FEATBLAS_ISA=avx2 bench/blocks.sh               as on a machine without AVX-512 (ours; MKL: set its own variable)
#   FEATBLAS_PEERS=none bench/blocks.sh             without MKL, DGL and scipy
#   FEATBLAS_MKL=/path/libmkl_rt.so bench/blocks.sh  an MKL that is there
#   FEATBLAS_BENCH=/big/disk bench/blocks.sh        where the graphs and results go (3 GB)
set -euo pipefail
cd "$(dirname "$0")/.."
work=${FEATBLAS_BENCH:-${TMPDIR:-/tmp}/featblas-bench}
programs=${FEATBLAS_BLOCKS:-spmm sddmm attention}
mkdir -p "$work"

scripts/install_packages.sh build
make --no-print-directory configure PRESET=release
targets=()
for program in $programs; do targets+=("bench_$program"); done
cmake --build build/release --target "${targets[@]}" > "$work/build.log" || { cat "$work/build.log"; exit 1; }

peers=()
if [ "${FEATBLAS_PEERS:-}" != none ]; then
    if [ -z "${FEATBLAS_MKL:-}" ] && python=$(bench/peers/setup.sh "$work/peers" | tee /dev/stderr | tail -1); then
        FEATBLAS_MKL=$(find "${python%/bin/python}/lib" -maxdepth 1 -name 'libmkl_rt.so*' | head -1)
    fi
    export FEATBLAS_MKL
    if python=$(bench/peers/setup_dgl.sh "$work/peers-dgl" | tail -1); then
        peers=(--python "$python" --peers bench/peers/blocks.py)
    else
        echo "no environment for DGL and scipy: their cases are skipped"
    fi
fi
for program in $programs; do
    "build/release/bench_$program" --work "$work" --json "$work/$program.json" "${peers[@]}" "$@"
    echo "results: $work/$program.json"
done
