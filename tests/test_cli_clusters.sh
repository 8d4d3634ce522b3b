# featblas partition, and train --sampler cluster: parts of a METIS that checks what it is given, and of files; trained,
# saved, resumed inside an epoch, and refused.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

same() { cmp -s "$1" "$2" || fail "featblas $case: $1 and $2 differ"; }
accuracy() { sed -n 's/^test *accuracy //p' out; }
export FEATBLAS_METIS="${FEATBLAS_FAKE_METIS:?}/fake_metis_64.so"

# Parts: of a path of eight vertices in both directions, the four parts of two that the METIS gives cut three edges
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n8 8 7\n' >path.mtx
for v in 1 2 3 4 5 6 7; do echo "$((v + 1)) $v" >>path.mtx; done
run 0 partition path.mtx --parts 4 -o parts.txt
holds out "4 parts of 8 vertices"
holds out "6 of 14 edges, 42.86 %"
holds out "2 vertices, 1.000 times the mean"
[ "$(tr '\n' ' ' <parts.txt)" = "0 0 1 1 2 2 3 3 " ] || fail "parts: $(cat parts.txt)"
run 0 partition path.mtx --parts 4 --seed 3 -o other.npy
run 0 partition path.mtx --labels other.npy -o other.txt
holds out "4 parts of 8 vertices"
cmp -s parts.txt other.txt && fail "another seed gives the same parts"
printf '0\n0\n0\n0\n0\n0\n0\n2\n' >odd.txt
run 0 partition path.mtx --labels odd.txt
holds out "2 of 14 edges"
holds out "7 vertices, 2.625 times the mean" # of three parts, one of which is empty

run 2 partition path.mtx
says "expected --parts N or --labels FILE"
run 2 partition path.mtx --parts 2 --labels odd.txt
says "not both"
run 2 partition path.mtx --parts 9
says "--parts: 9 parts of 8 vertices"
printf '0\n1\n' >short.txt
run 3 partition path.mtx --labels short.txt
says "short.txt: 2 x 1 numbers; expected 8, one for each vertex"
printf '0\n0\n0\n-1\n0\n0\n0\n0\n' >low.txt
run 3 partition path.mtx --labels low.txt
says "low.txt: vertex 3 is in part -1"
FEATBLAS_METIS='' run 2 partition path.mtx --parts 2
says "METIS is not there"
says "libmetis5"
run 0 partition path.mtx --parts 1
holds out "0 of 14 edges"

# Training: as accurate as on the whole graph, with a third of the graph at a time
run 0 gen csbm --vertices 600 --classes 3 --homophily 0.7 --features 6 --mu 1 --seed 4 -q -o data
awk 'BEGIN { for (v = 0; v < 600; v++) print int(v * 7919 % 600 / 50) }' >parts.txt
for kind in gcn sage; do
    many=30
    [ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ] || many=1
    run 0 train data --model $kind --epochs $many -q --threads 1
    whole=$(accuracy)
    run 0 train data --model $kind --sampler cluster --partition parts.txt --clusters-per-batch 4 --epochs $many \
        --threads 1 --save $kind.safetensors
    says "mini-batches of 4 of 12 clusters"
    test=$(accuracy)
    [ $many = 1 ] || [ "$(awk -v a="$test" -v b="$whole" 'BEGIN { print (a >= b - 0.03) }')" = 1 ] ||
        fail "$kind: accuracy $test on clusters, $whole on the whole graph"
    run 0 predict data --load $kind.safetensors -o y.tsv
    says "test $test"
done
run 0 train data --model gat --layers 3 --sampler cluster --clusters 5 --epochs 2 -q --threads 1
awk '{ print ($1 == 0 ? -1.5 : $1) }' data/labels.txt >t.txt
run 0 train data --labels t.txt --model sage --sampler cluster --clusters 5 --epochs 2 -q --threads 1

# Batches without a training vertex: every vertex is a cluster, most of which have none
run 0 train data --sampler cluster --clusters 600 --clusters-per-batch 1 --epochs 1 -q --threads 1

# The same bits for any threads, and resumed inside an epoch
set -- train data --model gcn --sampler cluster --partition parts.txt --clusters-per-batch 1 -q
run 0 "$@" --epochs 4 --threads 1 --save whole.safetensors
run 0 "$@" --epochs 4 --threads 3 --save two.safetensors
same whole.safetensors two.safetensors
"$FEATBLAS_COMMAND" "$@" --epochs 100000 --threads 1 --save-every 1 --save part.safetensors >out 2>err &
process=$!
while [ ! -s part.safetensors ] && kill -0 $process; do sleep 0.01; done
kill -TERM $process
wait $process
done=$(grep -ao '"resume.epoch":"[0-9]*' part.safetensors | tr -dc 0-9)
run 0 train data --resume part.safetensors --partition parts.txt --epochs $((done + 2)) -q --threads 1 --save resumed.safetensors
run 0 "$@" --epochs $((done + 2)) --threads 1 --save straight.safetensors
same resumed.safetensors straight.safetensors
run 3 train data --resume part.safetensors --epochs 9
says "was trained on other clusters than METIS gives here; expected --partition FILE"

# Refused
run 2 train data --sampler cluster
says "expected --clusters N or --partition FILE"
run 2 train data --sampler cluster --clusters 4 --sample 5,5
says "--sample means nothing with --sampler cluster"
run 2 train data --sampler cluster --clusters 4 --key x
says "--key means nothing with --sampler cluster"
for option in "--clusters 5" "--clusters-per-batch 2" "--partition parts.txt"; do
    run 2 train data --sample 5,5 $option
    says "${option%% *} means nothing without --sampler cluster"
done
run 2 train data --model sgc --sampler cluster --clusters 4
says "--sampler cluster: no option of sgc"
run 3 train data --sampler cluster --partition parts.txt --clusters 5
says "parts.txt: vertex"
run 2 train data --resume part.safetensors --clusters 5
says "--clusters: a resumed run has that of part.safetensors"
run 2 train data --sampler cluster --clusters 601
says "--clusters: 601 clusters of 600 vertices"
FEATBLAS_METIS='' run 2 train data --sampler cluster --clusters 5
says "METIS is not there"
clean
finish
