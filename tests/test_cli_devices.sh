# What the command says of devices, with drivers of GPUs that do not exist (tests/support/fake_cuda).
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1
: "${FEATBLAS_FAKE_DRIVERS:?their folder}"
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n1 2\n' >g.mtx

export FEATBLAS_CUDA_DRIVER=
OPENBLAS_CORETYPE=Prescott run 0 info --devices
case $(OPENBLAS_CORETYPE=Prescott OPENBLAS_VERBOSE=2 "$FEATBLAS_COMMAND" info --devices 2>&1) in
*"Core: Prescott"*) # an OpenBLAS that has kernels for several processors; and some may have no more
    [ "${FEATBLAS_ISA:-}" = baseline ] || ! grep -q avx2 /proc/cpuinfo ||
        holds out "On the processor dense products are slow: OpenBLAS takes this processor for Prescott; OPENBLAS_CORETYPE="
    ;;
esac
export OPENBLAS_CORETYPE=Haswell
run 0 info --devices
holds out "the processor's cores"
holds out "There is no GPU to use: FEATBLAS_CUDA_DRIVER is empty, so that no driver is looked for."
silent
run 0 info --devices --json
holds out '"name": "cpu"'
run 0 info g.mtx --device cpu
run 2 info g.mtx --device gpu
says "--device: there is no 'gpu' here; expected cpu; no GPU: FEATBLAS_CUDA_DRIVER is empty"

# Reasons
FEATBLAS_CUDA_DRIVER=$folder/nowhere.so
run 0 info --devices
holds out "There is no GPU to use: the driver cannot be opened: "
holds out "nowhere.so"
[ "$(wc -l <out)" -eq 2 ] || fail "the reason is no line: $(cat out)"
escape=$(printf '\033')
FEATBLAS_CUDA_DRIVER="$folder/a${escape}b.so"
run 0 info --devices
holds out 'a\x1bb.so'
FEATBLAS_CUDA_DRIVER=$folder/g.mtx
run 0 info --devices
holds out "There is no GPU to use: the driver cannot be opened: $folder/g.mtx"
FEATBLAS_CUDA_DRIVER=$FEATBLAS_FAKE_DRIVERS/fake_cuda_lacks.so
run 0 info --devices
holds out "fake_cuda_lacks.so has no function cuDeviceTotalMem_v2."
FEATBLAS_CUDA_DRIVER=$FEATBLAS_FAKE_DRIVERS/fake_cuda.so
export FAKE_CUDA_INIT=999
run 0 info --devices
holds out "There is no GPU to use: cuInit fails with CUDA_ERROR_UNKNOWN, unknown error."
unset FAKE_CUDA_INIT

# Two of them
export FEATBLAS_NVRTC=$FEATBLAS_FAKE_DRIVERS/fake_nvrtc.so FAKE_CUDA_DEVICES=2 FAKE_CUDA_NAME="Fake$escape[31m\"GPU"
export FEATBLAS_CUBLAS= FEATBLAS_CUSPARSE=
run 0 info --devices
holds out "Sparse products cannot be tried by cuSPARSE: FEATBLAS_CUSPARSE is empty, so that no cuSPARSE is looked for."
holds out "Large dense products run there without cuBLAS: FEATBLAS_CUBLAS is empty, so that no cuBLAS is looked for."
FEATBLAS_CUBLAS=$FEATBLAS_FAKE_DRIVERS/fake_cublas.so
FEATBLAS_CUSPARSE=$FEATBLAS_FAKE_DRIVERS/fake_cusparse.so
run 0 info --devices
holds out "Large dense products run there by cuBLAS 12.4."
holds out "Sparse products can be tried by cuSPARSE 12.4."
[ "$(wc -l <out)" -eq 5 ] || fail "not a line per device: $(cat out)"
holds out 'gpu:0    Fake?[31m"GPU, compute capability 9.1, 1.5 GiB at 2619 MHz x 5120 bits, 14 multiprocessors'
holds out "gpu:1 "
[ "$(grep -c 'driver for CUDA 12.4,\( kernels built in for sm_90,\)\? NVRTC 12.4; products, attention and training run there, the rest on the host$' out)" -eq 2 ] || fail "not said of both: $(cat out)"
run 0 info --devices --json
holds out '"name": "gpu:1"'
holds out '"memory": 3221225472'
[ "$(grep -c '"cublas": "12.4"' out)" -eq 2 ] || fail "not said of both: $(cat out)"
[ "$(grep -c '"cusparse": "12.4"' out)" -eq 2 ] || fail "not said of both: $(cat out)"
run 0 info g.mtx --device gpu:1
run 2 info g.mtx --device gpu:2
says "--device: there is no 'gpu:2' here; expected cpu"

# Projections there are those that the host makes, in one chunk and in many.
awk 'BEGIN { for (u = 1; u <= 40; u++) for (i = 1; i <= 30; i++) if ((u * i) % 7 < 2) print u, i, (u + i) % 5 + 1 }' >r.txt
for how in "" "--triangle" "--top-k 3" "--weight dot --min-weight 20 --onto rows"; do
    run 0 project r.txt $how --device cpu -o here.tsv
    run 0 project r.txt $how --device gpu -o there.tsv
    cmp -s here.tsv there.tsv || fail "featblas project $how --device gpu: another result"
    FAKE_CUDA_MEMORY=60000 run 0 project r.txt $how --device gpu -o there.tsv
    cmp -s here.tsv there.tsv || fail "featblas project $how --device gpu, little memory: another result"
done
for how in "" "--top-k 3" "--weight dot --min-weight 20 --onto rows"; do
    run 0 project r.txt $how --stats text --device cpu
    grep -v ^time out >here
    run 0 project r.txt $how --stats text --device gpu
    grep -v ^time out | cmp -s here - || fail "statistics of $how are others: $(cat out)"
done
run 0 project r.txt --explain --dry-run --device gpu
[ -n "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ] || # whose builds have no kernels to run
    holds out "on the GPU       dense rows in 1 tile of 30 columns"

# Of features on the host a GPU keeps some, and says how often that was of use.
run 0 gen csbm --vertices 60 --classes 2 --homophily 0.7 --features 4 --mu 1 --seed 4 -q -o data
run 0 train data --model sage --sample 3,2 --batch 20 --epochs 1 --hidden 4 --device gpu --feature-cache 0.5 --explain
if [ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ]; then
    says "on gpu:0: 30 of 60 rows of features are kept there"
    says "features: 30 rows on the device, hit rate 0."
fi

# A program that runs for somebody else takes no code from who calls it. Needs root, and a folder that allows it; a
# sanitizer's build cannot look for leaks in such a process.
unset FAKE_CUDA_DEVICES FAKE_CUDA_NAME
cp "$(command -v id)" who
chown 65534 who && chmod 4755 who && chmod 755 .
if [ "$(id -u)" = 0 ] && [ "$(./who -u)" = 65534 ] && [ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ]; then
    cp "$FEATBLAS_COMMAND" lent
    chown 65534 lent && chmod 4755 lent
    FEATBLAS_CUDA_DRIVER='' ./lent info --devices >out
    grep -q "FEATBLAS_CUDA_DRIVER" out && fail "a set-user-id program heeds FEATBLAS_CUDA_DRIVER: $(cat out)"
else
    echo "skipped: programs that run for somebody else"
fi

finish
