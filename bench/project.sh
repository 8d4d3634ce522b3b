#!/usr/bin/env bash
# project.sh [options of bench_project]: the benchmark of projections. Builds, makes the graphs and, once, the
# environment of the other libraries (bench/peers/setup.sh), prints a table and writes results.json.
#
#   bench/project.sh                               everything, three times: about 40 minutes on two cores
#   bench/project.sh --without 'within 2 GiB'      without the largest graph: about 20 minutes
#   bench/project.sh --only count --repeats 1      some of it, once
#   FEATBLAS_PEERS=none bench/project.sh          without other libraries
#   FEATBLAS_BENCH=/big/disk bench/project.sh     where the graphs and results go (50 GB for the largest case)
set -euo pipefail
cd "$(dirname "$0")/.."
work=${FEATBLAS_BENCH:-${TMPDIR:-/tmp}/featblas-bench}
mkdir -p "$work"

scripts/install_packages.sh build
make --no-print-directory configure PRESET=release
cmake --build build/release --target bench_project featblas_command > "$work/build.log" || { cat "$work/build.log"; exit 1; }

peers=()
if [ "${FEATBLAS_PEERS:-}" != none ]; then
    if python=$(bench/peers/setup.sh "$work/peers" | tee /dev/stderr | tail -1); then
        peers=(--python "$python" --peers bench/peers/peers.py)
    else
        echo "no environment for the other libraries: their cases are skipped"
    fi
fi
build/release/bench_project --work "$work" --command build/release/featblas --json "$work/results.json" "${peers[@]}" "$@"
echo "results: $work/results.json"
