#!/usr/bin/env bash
# The table of the library's own calls on a GPU (bench/gpu/products): FeatBLAS beside cuSPARSE, and beside PyTorch and PyG where
# python3 (or $PYTHON) has them.
#
#   products.sh [OPTION...]              options of bench_gpu_products; BUILD: the folder of it (build/release)
#   products.sh --emulated [OPTION...]   at toy size on the GPU that does not exist; fails where any case does
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build/release}
python=${PYTHON:-python3}
fakes=${FAKES:-$build/fake_drivers}
if [ "${1:-}" = --emulated ]; then
    shift
    export FEATBLAS_CUDA_DRIVER=$fakes/fake_cuda.so FEATBLAS_NVRTC=$fakes/fake_nvrtc.so FEATBLAS_CUSPARSE=$fakes/fake_cusparse.so
    export FEATBLAS_CUBLAS=$fakes/fake_cublas.so
    export FEATBLAS_CACHE=0
    said=$("$build/bench_gpu_products" --toy --plan kernel=direct --plan kernel=hybrid,bulk=0 --plan kernel=hybrid,bulk=1 \
        --plan tf32:kernel=auto --plan tf32:kernel=tensor,threshold=2 "$@" 2>&1) || { echo "$said"; exit 1; }
    echo "$said"
    # Operands stay where they are, but where texts have no kernels.
    if [ "${FAKE_NVRTC_TEXTS:-1}" != 0 ] && grep -q 'bytes moved inside' <<< "$said"; then echo "products.sh: bytes moved"; exit 1; fi
    # It is complete: every operation ran, or says that there is no verb.
    [ -n "$*" ] || for operation in sum max mean weighted heads dot softmax attention gcn gat pagerank bfs sssp; do
        grep -qE "^(reddit-like|kron-20) $operation, d = [0-9a-z ]+ FeatBLAS +[0-9.]+" <<< "$said" ||
            { echo "products.sh: no time of $operation"; exit 1; }
    done
    for plan in kernel=hybrid,bulk=0 kernel=hybrid,bulk=1 tf32:kernel=auto tf32:kernel=tensor,threshold=2; do
        [ -n "$*" ] || grep -qE "FeatBLAS $plan +[0-9.]+" <<< "$said" || { echo "products.sh: no time of $plan"; exit 1; }
    done
    exit
fi
peers=()
if "$python" -c 'import torch' 2> /dev/null; then
    graphs=${GRAPHS:-/tmp/featblas-graphs}
    mkdir -p "$graphs"
    peers=(--python "$python" --serve "$here/support/torch_serve.py" --graphs "$graphs")
fi
exec "$build/bench_gpu_products" "${peers[@]}" "$@"
