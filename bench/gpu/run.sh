#!/usr/bin/env bash
# Builds and runs the program that measures a GPU; README.md beside this says what it measures.
#
#   run.sh build            build/gpu/facts, for the GPU that is there, or ARCH=sm_90
#   run.sh toy              every group on tiny graphs, results checked
#   run.sh part N...        parts 1 to 6, each at most 8 minutes, into RESULTS (bench/gpu/results)
#   run.sh compile          all for sm_80, sm_90 and sm_100 (or ARCHS="90") without warnings; registers and spills
#   run.sh graphs COMMAND   graphs made here against those of `COMMAND gen`: the same columns
#   run.sh emulate          kernels of ours on the CPU, in the tests' emulator, at toy size; needs g++ only
#
# JOBS: compilers at once. GRAPHS: where generated graphs are kept (1.8 GB). BUDGET: seconds for a part.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
build=${BUILD:-build/gpu}
results=${RESULTS:-bench/gpu/results}
graphs=${GRAPHS:-/tmp/featblas-graphs}
jobs=${JOBS:-$(nproc)}
architectures=${ARCHS:-80 90 100}
command -v nvcc > /dev/null || PATH=$PATH:/usr/local/cuda/bin
sources=$(cd "$here" && ls facts.cu support/*.cu machine/*.cu cusparse/*.cu prototypes/*.cu)
simt=$here/../../tests/support/simt
warnings="-Wall -Wextra -Wshadow"

object() { echo "$build/$1/$(echo "$2" | tr / -).o"; }

compile_one() { # architectures, folder, source
    local o
    o=$(object "$2" "$3")
    # shellcheck disable=SC2086
    nvcc -std=c++17 -O3 -lineinfo -Xcompiler "${warnings// /,},-ffp-contract=off" \
        -Xptxas -v $1 -I"$here" -c "$here/$3" -o "$o" > "$o.log" 2>&1 || { cat "$o.log"; return 1; }
}

# Kernels are compiled for the emulator of the tests as those of the tests are (cmake/simt.cmake).
emulate_one() { # source
    local flags="-O2"
    case $1 in
    *.cu) flags="-O1 -g1 -fno-tree-vectorize -fno-unroll-loops -Wno-unknown-pragmas -fsanitize=thread -fsanitize=bounds
        --param tsan-distinguish-volatile=1 --param tsan-instrument-func-entry-exit=0" ;;
    esac
    # shellcheck disable=SC2086
    g++ -std=c++17 $flags $warnings -Werror -ffp-contract=off -D_GLIBCXX_ASSERTIONS -I"$here" -I"$simt" \
        -x c++ -c "$1" -o "$(object emulated "$1")"
}

architecture() {
    [ -n "${ARCH:-}" ] && { echo "$ARCH"; return; }
    local capability
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -1 | tr -d .)
    [ -n "$capability" ] || { echo "run.sh: no GPU is there; name one with ARCH=sm_90" >&2; return 1; }
    echo "sm_$capability"
}

# NVRTC finds a library beside itself by an rpath of the old kind only.
build_facts() {
    local arch root more="" libraries="-lcusparse -lnvrtc"
    arch=$(architecture)
    mkdir -p "$build/$arch"
    root=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
    if [ -z "$(find "$root/" -name cusparse.h -print -quit)" ]; then # nvcc came alone: Python's packages
        root=$(python3 -c 'import nvidia; print(list(nvidia.__path__)[0])')/cu13
        more=" -I$root/include"
        libraries="-Xlinker $(ls "$root"/lib/libcusparse.so* | head -1),$(ls "$root"/lib/libnvrtc.so* | head -1)"
    fi
    echo "$sources" | xargs -P "$jobs" -I{} "$here/run.sh" compile_one "-arch=$arch$more" "$arch" {}
    local objects=()
    for s in $sources; do objects+=("$(object "$arch" "$s")"); done
    # shellcheck disable=SC2086
    nvcc -arch="$arch" "${objects[@]}" -o "$build/facts" $libraries \
        -Xlinker "--disable-new-dtags,-rpath,$root/lib64,-rpath,$root/lib"
}

run_part() { # number, more options for facts
    local n=$1
    shift
    mkdir -p "$results" "$graphs"
    if [ "$n" = 6 ]; then
        "$build/facts" --make-graphs --graphs "$graphs" # those that no other part has left there
        python3 "$here/torch_peers.py" --out "$results/part6.json" --graphs "$graphs" ${BUDGET:+--budget "$BUDGET"} "$@"
    else
        "$build/facts" --part "$n" --out "$results/part$n.json" --graphs "$graphs" ${BUDGET:+--budget "$BUDGET"} "$@"
    fi
}

toy() {
    results=$build/toy
    local failed=0
    for n in 1 2 3 4 5; do run_part "$n" --toy || failed=1; done
    return $failed
}

# Every kernel's registers, stack and spills, from the compiler's report.
resources() {
    local folder=$1
    for log in "$build/$folder"/*.log; do
        c++filt < "$log" | awk -v file="$(basename "$log" .cu.o.log)" '
            /Compiling entry function/ { n = split($0, part, "\047"); name = part[2]; arch = part[4]
                sub(/\(.*/, "", name); gsub(/facts::|\(anonymous namespace\)::|void |[^ ]*::/, "", name) }
            /bytes stack frame/ { stack = $1; spill = $5 + $9 }
            /Used [0-9]+ registers/ { match($0, /Used [0-9]+/); printf "%-22s %-8s %4d registers %5d stack %5d spilled  %s\n",
                file, arch, substr($0, RSTART + 5, RLENGTH - 5), stack, spill, name }'
    done
}

compile_all() {
    local folder=all flags="-Werror all-warnings" a
    mkdir -p "$build/$folder"
    for a in $architectures; do flags+=" -gencode=arch=compute_$a,code=sm_$a"; done
    echo "$sources" | xargs -P "$jobs" -I{} "$here/run.sh" compile_one "$flags" "$folder" {}
    resources "$folder" > "$build/registers.txt"
    local objects=()
    for s in $sources; do objects+=("$(object "$folder" "$s")"); done
    nvcc -arch="sm_${architectures##* }" "${objects[@]}" -o "$build/facts-all" -lcusparse -lnvrtc
    echo "$(wc -l < "$build/registers.txt") kernels for $architectures; with a stack or spills:" \
        "$(awk '$5 + $7 > 0' "$build/registers.txt" | wc -l) ($build/registers.txt)"
}

emulate() { # what runs without CUDA: everything but the groups that measure CUDA itself
    local emulated
    emulated=$(ls "$here"/{facts.cu,support/*.cu,support/emulate.cpp,machine/{read,gather,shared,atomics,words}.cu,prototypes/*.cu} \
        "$simt"/*.cpp)
    rm -rf "$build/emulated" # objects of sources that are no longer there
    mkdir -p "$build/emulated"
    echo "$emulated" | tr ' ' '\n' | xargs -P "$jobs" -I{} "$here/run.sh" emulate_one {}
    local objects=()
    for s in $emulated; do objects+=("$(object emulated "$s")"); done
    g++ "${objects[@]}" -o "$build/facts-emulated"
    for n in 1 4 5; do
        "$build/facts-emulated" --part "$n" --out "$build/emulated/part$n.json" 2> "$build/emulated/part$n.log" ||
            { cat "$build/emulated/part$n.log"; return 1; }
    done
}

# The emulated program's graphs, made at full size, hold the same columns as featblas's raw CSR (docs/formats.md), whose
# 64-byte header says at its end where they begin.
compare_graphs() {
    local work=$build/graphs name
    mkdir -p "$work"
    for name in ${NAMES:-arxiv-like}; do
        "$build/facts-emulated" --full --make-graphs --only "$name" --graphs "$work" > /dev/null
        "$1" gen "$name" --seed 1 -o "$work/$name.csr" > /dev/null 2>&1
        python3 - "$work/$name-1.graph" "$work/$name.csr" <<'PYTHON'
import struct, sys
ours, theirs = (open(name, "rb").read() for name in sys.argv[1:])
rows, cols, entries = struct.unpack_from("<3q", ours)
at, = struct.unpack_from("<q", theirs, 48)
same = entries > 0 and ours[24 + 4 * (rows + 1):] == theirs[at:at + 4 * entries]
print(f"{sys.argv[1].rsplit('/', 1)[-1]}: {entries} entries,", "as featblas gen makes them" if same else "DIFFERENT")
sys.exit(not same)
PYTHON
    done
}

command=${1:-help}
shift || true
case $command in
build) build_facts ;;
toy) toy ;;
part) # the next one runs, whatever became of one
    failed=0
    for n in "$@"; do run_part "$n" || failed=1; done
    exit $failed
    ;;
compile) compile_all ;;
emulate) emulate ;;
graphs) compare_graphs "$@" ;;
compile_one | emulate_one) "$command" "$@" ;;
*) sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' ;;
esac
