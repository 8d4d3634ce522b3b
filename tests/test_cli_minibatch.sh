# featblas train --sample: mini-batches on small data of known structure: trained, saved, resumed inside an epoch,
# and refused.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

# same A B: two files have the same bytes
same() { cmp -s "$1" "$2" || fail "featblas $case: $1 and $2 differ"; }
# accuracy: of the last run's test part
accuracy() { sed -n 's/^test *accuracy //p' out; }

run 0 gen csbm --vertices 600 --classes 3 --homophily 0.7 --features 6 --mu 1 --seed 4 -q -o data

# As accurate as on the whole graph, and predicted alike. A sanitizer's build looks for wrong accesses alone: an epoch
# has them all.
for kind in sage gcn gat; do
    many=30 few=15
    [ -z "${ASAN_OPTIONS:-}" ] || many=1 few=1
    run 0 train data --model $kind --epochs $many -q --threads 1
    whole=$(accuracy)
    run 0 train data --model $kind --sample 10,5 --batch 100 --epochs $few --threads 1 --save $kind.safetensors
    says "mini-batches of 100, neighbours: 10, 5"
    test=$(accuracy)
    [ $few = 1 ] || [ "$(awk -v a="$test" -v b="$whole" 'BEGIN { print (a >= b - 0.03) }')" = 1 ] ||
        fail "$kind: accuracy $test on mini-batches, $whole on the whole graph"
    run 0 predict data --load $kind.safetensors -o y.tsv
    says "test $test"
done
for kind in gatv2 transformer gin; do
    run 0 train data --model $kind --sample 4,4 --batch 200 --epochs 2 -q --threads 1
done
run 0 train data --model sage --aggregate max --sample all,3,2 --epochs 2 --sampler labor --threads 1
says "sage: 3 layers"
run 0 train data --model sage --sample 3,3 --key 'exp(-(i - j) * (i - j) / 1e4)' --epochs 2 -q --threads 1

# The same bits for any threads; targets, too
awk '{ print ($1 == 0 ? -1.5 : $1) }' data/labels.txt >t.txt
run 0 train data --labels t.txt --model sage --sample 5,5 --batch 64 --epochs 3 -q --threads 1 --save one.safetensors
run 0 train data --labels t.txt --model sage --sample 5,5 --batch 64 --epochs 3 -q --threads 3 --save two.safetensors
same one.safetensors two.safetensors
run 0 train data --labels t.txt --model sage --sample 5,5 --batch 64 --epochs 3 -q --seed 1 --save two.safetensors
cmp -s one.safetensors two.safetensors && fail "another seed gives the same weights"

# How neighbours are picked matters, and is resumed
for how in "" "--replace" "--sampler labor --iterations 2" "--sampler labor"; do
    # shellcheck disable=SC2086
    set -- train data --model sage --sample 5,5 --batch 64 $how --threads 1 -q
    run 0 "$@" --epochs 2 --save part.safetensors
    run 0 "$@" --epochs 4 --save straight.safetensors
    run 0 train data --resume part.safetensors --epochs 4 -q --threads 1 --save resumed.safetensors
    same resumed.safetensors straight.safetensors
    run 0 "$@" --epochs 2 --weights-only --save weights.safetensors
    [ ! -f last.safetensors ] || ! cmp -s last.safetensors weights.safetensors || fail "$how: no other weights"
    cp weights.safetensors last.safetensors
done

# Interrupted anywhere, and resumed, the same bits: by a signal between two batches, and from what a run that was
# killed had saved last
set -- train data --model gat --sample 5,5 --batch 16 --threads 1 -q
run 0 "$@" --epochs 6 --save whole.safetensors
test=$(accuracy) # of three pieces of rows
run 0 "$@" --epochs 6 --save-every 7 --save every.safetensors # which moves no bit
same whole.safetensors every.safetensors
run 0 predict data --load whole.safetensors -o y.tsv
says "test $test"
for signal in TERM KILL; do
    rm -f part.safetensors
    "$FEATBLAS_COMMAND" "$@" --epochs 100000 --save-every 1 --save part.safetensors >out 2>err &
    process=$!
    while [ ! -s part.safetensors ] && kill -0 $process; do sleep 0.01; done
    kill -$signal $process
    wait $process
    rm -f ./.*.tmp # of the write that was killed
    grep -qa '"resume.batch":"[1-9]' part.safetensors || fail "SIG$signal: not inside an epoch"
    done=$(grep -ao '"resume.epoch":"[0-9]*' part.safetensors | tr -dc 0-9)
    run 0 train data --resume part.safetensors --epochs $((done + 2)) -q --save resumed.safetensors
    run 0 "$@" --epochs $((done + 2)) --save straight.safetensors
    same resumed.safetensors straight.safetensors
done
run 0 train data --resume resumed.safetensors --epochs $((done + 2)) --metrics json -q

# Refused
run 2 train data --model sgc --sample 5,5
says "--sample: no option of sgc, but of gcn, gat, gatv2, transformer, sage and gin"
run 2 train data --sample 5,x
says "--sample: '5,x' is no list of numbers such as 15,10,5, or all"
run 2 train data --sample 5,0
says "--sample: no neighbours for hop 1"
run 2 train data --sample 5,5 --layers 3
says "--sample: 2 hops; expected 3, one for each layer"
for option in "--batch 5" "--sampler labor" "--key x" "--replace" "--iterations 2" "--save-every 3" "--feature-cache 2G" \
    "--cache-by degree"; do
    run 2 train data $option
    says "${option%% *} means nothing without --sample"
done
run 2 train data --sample 5,5 --save-every 3
says "--save-every goes with --save"
run 2 train data --resume whole.safetensors --sample 5,5
says "--sample: a resumed run has that of whole.safetensors"
run 2 train data --resume whole.safetensors --replace
says "--replace: a resumed run has that of whole.safetensors"
run 2 train data --sample 5,5 --iterations 2
says "--iterations is 2; expected 0, or more with --sampler labor"
run 2 train data --sample 5,5 --sampler topk
says "--key is missing: --sampler topk needs an expression"
run 2 train data --sample 5,5 --key 'x +'
says "key: "
sed 's/"resume.sample":"5,5"/"resume.sample":"5,y"/' whole.safetensors >bad.safetensors
run 3 train data --resume bad.safetensors
says "bad.safetensors: text resume.sample: '5,y' is no list"
sed 's/"resume.batch":"0"/"resume.batch":"9"/; s/"resume.batch-size":"16"/"resume.batch-size":"60"/' whole.safetensors >bad.safetensors
run 2 train data --resume bad.safetensors --epochs 9
says "was saved before batch 10 of an epoch; here it has"
run 1 train data --sample 5,5 --lr 1e30 --epochs 50 --optimizer sgd -q --threads 1
says "a smaller --lr may help"
for size in x 1.5 120% -1; do
    run 2 train data --sample 5,5 --feature-cache $size
    says "--feature-cache: '$size' is neither a size such as 2G nor a share such as 0.2"
done
run 0 train data --model sage --sample 5,5 --epochs 1 --feature-cache 20% --cache-by sampled -q # nothing without a GPU
clean
finish
