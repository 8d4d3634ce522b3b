#!/usr/bin/env bash
# make_bundle.sh: build/featblas-gpu.tar.xz, which tests and measures a GPU on an x86-64 Linux machine with its driver and none of the
# packages that the project is built of: programs that are linked without GraphBLAS, the shared libraries that they take but for
# those of the C library, and gpu-check, which runs them. What bench/gpu/run.sh builds with nvcc travels as source.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build/bundle
tree=$build/featblas-gpu
archive=$PWD/build/featblas-gpu.tar.xz
most=$((45 << 20)) # bytes, packed
jobs=${JOBS:-$(nproc)}
generator=()
[ -f "$build/CMakeCache.txt" ] || ! command -v ninja > /dev/null || generator=(-G Ninja)

# An rpath of the old kind serves what the libraries in lib/ take, too.
mkdir -p "$build"
{ cmake -S . -B "$build" "${generator[@]}" -DFEATBLAS_GRAPHBLAS=OFF -DCMAKE_BUILD_TYPE=Release -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON \
    '-DCMAKE_INSTALL_RPATH=$ORIGIN;$ORIGIN/../lib;$ORIGIN/../../lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags \
    -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--disable-new-dtags -DCMAKE_MODULE_LINKER_FLAGS=-Wl,--disable-new-dtags &&
    cmake --build "$build" -j "$jobs" --target gpu_tests bench_gpu_products bench_dense_gpu; } > "$build/build.log" 2>&1 ||
    { tail -40 "$build/build.log"; exit 1; }

rm -rf "$tree"
mkdir -p "$tree"/{bin/fake_drivers,lib,bench}
cut -d' ' -f1 "$build/gpu_tests.txt" | while read -r name; do cp "$build/$name" "$tree/bin"; done
cp "$build"/{featblas,bench_gpu_products,bench_dense_gpu,gpu_tests.txt} "$tree/bin"
cp "$build"/fake_drivers/*.so "$tree/bin/fake_drivers"
cp "$build"/libfeatblas_whole.so "$tree/lib"
cp scripts/gpu_check "$tree/gpu-check"
git ls-files bench/gpu | cpio -pdm --quiet "$tree" 2> /dev/null || git ls-files -z bench/gpu | tar -c --null -T - | tar -x -C "$tree"
cp LICENSE "$tree"

# Every library that these take, whoever asks for it, but for the C library's.
ldd "$tree"/bin/{featblas,bench_gpu_products,bench_dense_gpu,test_*} "$tree"/bin/fake_drivers/*.so "$tree"/lib/*.so |
    awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' | sort -u |
    grep -vE '^(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|ld-linux[a-z0-9-]*)\.so|libfeatblas' |
    while read -r name path; do cp -L "$path" "$tree/lib/$name"; done
strip --strip-unneeded "$tree"/bin/{featblas,bench_gpu_products,bench_dense_gpu,test_*} "$tree"/bin/fake_drivers/*.so "$tree"/lib/*.so*

tar -C "$build" -c "$(basename "$tree")" | xz -9 > "$archive" # whose window sees that programs have the library in common
bytes=$(stat -c %s "$archive")
awk -v b="$bytes" -v a="build/$(basename "$archive")" 'BEGIN {printf "%s: %.1f MiB packed\n", a, b / 1048576}'
[ "$bytes" -le "$most" ] || { echo "make_bundle.sh: that is more than $((most >> 20)) MiB" >&2; exit 1; }
