#!/usr/bin/env bash
# The checks beside `make test`; .ci/run runs them after it. Some alone: scripts/check.sh format links
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc 2> /dev/null || sysctl -n hw.ncpu)

build() { # preset, targets...
    local preset=$1 generator=()
    shift
    [ -f "build/$preset/CMakeCache.txt" ] || ! command -v ninja > /dev/null || generator=(-G Ninja)
    mkdir -p "build/$preset"
    cmake --preset "$preset" "${generator[@]}" > "build/$preset/build.log" &&
        cmake --build "build/$preset" -j "$jobs" ${1:+--target "$@"} >> "build/$preset/build.log" ||
        { tail -60 "build/$preset/build.log"; return 1; }
}

format() { git ls-files '*.c' '*.h' '*.cu' '*.cuh' 'bench/*.cpp' 'tests/support/*.cpp' | xargs clang-format --dry-run -Werror; }
links() { scripts/check_links; }
includes() { scripts/check_includes; }
tables() { scripts/check_tables; }
docs() {
    mkdir -p build/docs
    doxygen Doxyfile
}
symbols() {
    build release featblas_shared
    scripts/check_symbols build/release
}
graphblas() { # a build without GraphBLAS, whose header nothing may read: the library, the command, some tests of each layer
    local folder=build/no-graphblas type=Debug generator=()
    [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ] || type=Release # whose objects are those of build/release, all but one
    [ -f $folder/CMakeCache.txt ] || ! command -v ninja > /dev/null || generator=(-G Ninja)
    mkdir -p $folder/decoy
    echo '#error "a build without GraphBLAS includes its header"' > $folder/decoy/GraphBLAS.h
    local tests=(test_graphblas_absent test_core_build test_expr test_spmm_kernels test_project test_block_apply
        test_block_write test_weights test_nn_ops test_cxx_header example_mxm example_gnn_train)
    { cmake -S . -B $folder "${generator[@]}" -DFEATBLAS_GRAPHBLAS=OFF -DCMAKE_BUILD_TYPE=$type \
        -DCMAKE_C_FLAGS="-I$PWD/$folder/decoy" -DCMAKE_CXX_FLAGS="-I$PWD/$folder/decoy" -DCMAKE_C_FLAGS_DEBUG=-O0 &&
        cmake --build $folder -j "$jobs" --target featblas_shared featblas_command manuals "${tests[@]}"; } > $folder/build.log ||
        { tail -60 $folder/build.log; return 1; }
    grep -o 'Without GraphBLAS.*' $folder/build.log
    ! grep -rlE 'lgraphblas|libgraphblas' $folder --include=build.ninja --include=link.txt
    ctest --test-dir $folder --output-on-failure -j "$jobs" --no-tests=error \
        -R "^($(IFS='|' && echo "${tests[*]}")|test_install|test_cli_(edges|files|formats))\$"
}
gpu() { # the programs that measure a GPU: kernels on the CPU, graphs beside ours; all compiled where nvcc is
    local with_images=(test_gpu_images test_gpu_driver test_gpu_memory test_gpu_spmm test_gpu_dense test_gpu_softmax test_gpu_update)
    local fakes=$PWD/build/release/fake_drivers
    build release featblas_command bench_gpu_products bench_dense_gpu fake_cuda fake_nvrtc fake_cublas fake_cusparse
    FEATBLAS_CUDA_DRIVER=$fakes/fake_cuda.so FEATBLAS_NVRTC=$fakes/fake_nvrtc.so FEATBLAS_CUBLAS=$fakes/fake_cublas.so \
        FEATBLAS_CACHE=0 build/release/bench_dense_gpu 1 toy
    bench/gpu/products.sh --emulated | tail -1
    bench/gpu/run.sh emulate
    bench/gpu/run.sh graphs build/release/featblas
    bench/gpu/report --check
    if ! command -v nvcc > /dev/null; then echo "gpu: nvcc is not there; not compiled for a GPU"; return; fi
    ARCHS=90 bench/gpu/run.sh compile
    nvcc -I. -Isrc -c -o build/gpu/signatures.o tests/support/fake_cuda/signatures.c # what gpu/ declares of the driver is so
    nvcc -I. -Isrc -Xcompiler -Werror,-Wno-deprecated-declarations -c -o build/gpu/sparse.o tests/support/fake_cuda/signatures_cusparse.c
    # What the emulator runs is CUDA; of kernels, a library has code with it, which the driver that does not exist takes.
    git ls-files 'tests/cases/simt/*.cu' | xargs -P "$jobs" -I{} sh -c \
        'nvcc -std=c++17 -arch=compute_90 -Werror all-warnings -I. --ptx -o "build/gpu/$(basename {} .cu).ptx" {}'
    # build/release with kernels in the library, and then without them again.
    local log=build/release/images.log
    { cmake --preset release -DFEATBLAS_CUDA=ON &&
        cmake --build build/release -j "$jobs" --target featblas_command fake_cusparse "${with_images[@]}"; } > $log ||
        { tail -60 $log; return 1; }
    ctest --test-dir build/release --output-on-failure -j "$jobs" --no-tests=error -R "^($(IFS='|' && echo "${with_images[*]}")|test_cli_devices)\$"
    build release featblas_command
}
asan() { # tests under the address and undefined-behaviour sanitizers, of half the random cases and failing allocations; what docs
         # show, what counts touched bytes, and the device that is an oracle are `make test`'s alone. Of tests on the pretend
         # device those that tsan leaves out, whose build asserts the same
    build asan-ubsan
    local others
    others=$(ctest --test-dir build/asan-ubsan -N -L pretend -LE 'slow|serial' | sed -n 's/.*: //p' | grep '^pretend_' | paste -sd '|')
    FEATBLAS_CASES=50% ctest --test-dir build/asan-ubsan --output-on-failure -j "$jobs" -LE oracle \
        -E "^(test_docs|test_plan_work|$others)\$"
}
tsan() { # compiles everything with clang; runs the tests of parallel code, of a quarter of the cases, and the command under signals
    build tsan
    FEATBLAS_CASES=25% ctest --test-dir build/tsan --output-on-failure -j "$jobs" -LE 'slow|fuzz|serial|oracle' -E '^test_(cli_[^k]|docs)'
}
tidy() { # configures only, for the compile commands. What follows paths through a function gives up after 30,000 steps: small
         # functions are seen whole, and the longest no longer take ten seconds
    [ -f build/tsan/compile_commands.json ] || build tsan help
    local steps=(-Xclang -analyzer-config -Xclang max-nodes=30000)
    git ls-files 'src/*.c' 'gpu/*.c' 'apps/*.c' |
        xargs -P "$jobs" -n 4 clang-tidy --quiet -p build/tsan "${steps[@]/#/--extra-arg=}" 2> build/tidy.log ||
        { grep -E 'error:' build/tidy.log; return 1; }
}

if [ $# = 1 ]; then
    echo "== $1"
    "$1"
    echo "== $1: passed in $SECONDS s"
    exit
fi
failed=""
for check in ${*:-format links includes tables docs symbols graphblas gpu asan tsan tidy}; do
    "$0" "$check" || failed="$failed $check"
done
[ -z "$failed" ] || { echo "== failed:$failed"; exit 1; }
