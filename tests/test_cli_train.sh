# featblas train and predict: on small data of known structure, saved, resumed, and refused.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

# same A B: two files have the same bytes
same() { cmp -s "$1" "$2" || fail "featblas $case: $1 and $2 differ"; }
# safetensors FILE HEADER FLOATS...: a file by hand; FLOATS are 4 bytes each as printf's escapes
safetensors() {
    to=$1 header=$2
    shift 2
    length=$(printf %s "$header" | wc -c)
    printf "$(printf '\\%03o\\%03o\\0\\0\\0\\0\\0\\0' $((length % 256)) $((length / 256)))" >"$to"
    printf %s "$header" >>"$to"
    for float; do printf "$float" >>"$to"; done
}

run 0 gen csbm --vertices 400 --classes 3 --homophily 0.7 --features 6 --mu 1 --seed 4 -q -o data

# Trained, saved, predicted
run 0 train data --epochs 30 --save a.safetensors
says "data: 400 vertices"
says "3 classes; 253 to train, 81 to validate, 66 to test"
says "gcn: 2 layers, 16 hidden"
test=$(sed -n 's/^test *accuracy //p' out)
[ "$(awk -v a="$test" 'BEGIN { print (a > 0.8) }')" = 1 ] || fail "gcn: accuracy $test"
run 0 predict data --load a.safetensors -o labels.tsv
says "test $test"
[ "$(wc -l <labels.tsv)" = 400 ] || fail "predict: $(wc -l <labels.tsv) labels"
[ "$(sort -u labels.tsv | tr '\n' ' ')" = "0 1 2 " ] || fail "predict: labels $(sort -u labels.tsv)"
run 0 predict data --load a.safetensors -q
same out labels.tsv
silent
run 0 predict data --load a.safetensors --write probabilities
[ "$(awk '{ s = $1 + $2 + $3; if (s < 0.9999 || s > 1.0001) print }' out)" = "" ] || fail "probabilities: $(head -3 out)"
run 0 predict data --load a.safetensors --write embeddings -o x.tsv
[ "$(head -1 x.tsv | awk '{ print NF }')" = 16 ] || fail "embeddings: $(head -1 x.tsv)"
run 0 predict data --load a.safetensors --write scores -o x.npy
head -c 6 x.npy | grep -q NUMPY || fail "x.npy is no npy"

run 0 predict data --load a.safetensors --explain -o x.tsv
says "product"
run 0 train data --epochs 1 --explain
says "product"

# GATv2 of one layer with share_weights: its file has one of the two linear maps
zeros() { n=0; while [ $n -lt "$1" ]; do printf '%s ' '\0\0\0\0'; n=$((n + 1)); done; }
safetensors shared.safetensors '{"conv1.att":{"dtype":"F32","shape":[1,1,3],"data_offsets":[0,12]},"conv1.bias":{"dtype":"F32","shape":[3],"data_offsets":[12,24]},"conv1.lin_l.bias":{"dtype":"F32","shape":[3],"data_offsets":[24,36]},"conv1.lin_l.weight":{"dtype":"F32","shape":[3,6],"data_offsets":[36,108]}}' \
    $(zeros 27)
run 0 predict data --load shared.safetensors --write scores -o x.tsv
[ "$(sort -u x.tsv | tr '\t\n' '  ')" = "0 0 0 " ] || fail "share_weights: $(head -2 x.tsv)"

# A baseline that does not see the graph knows less
run 0 train data --model mlp -q --epochs 60
mlp=$(sed -n 's/^test *accuracy //p' out)
[ "$(awk -v a="$mlp" -v b="$test" 'BEGIN { print (a < b) }')" = 1 ] || fail "mlp: accuracy $mlp, gcn $test"

# Every kind is saved and served
"$FEATBLAS_COMMAND" help --models >models
kinds=$(sed -n 's/^| `\([a-z0-9]*\)`.*/\1/p' models)
[ "$(echo "$kinds" | wc -l)" -ge 9 ] || fail "help --models lists $kinds"
run 0 train --help
tr -s ' \n' '  ' <out >help
holds help "Kind of the model: $(echo "$kinds" | tr '\n' ' ' | sed 's/ $//; s/ /, /g; s/, \([a-z0-9]*\)$/ or \1/')."
run 0 help --completion bash
holds out "--model) COMPREPLY=(\$(compgen -W '$(echo "$kinds" | tr '\n' ' ' | sed 's/ $//')'"
sed -n '/^| `--model` |/,/^$/p' "$FEATBLAS_SOURCE_DIR/docs/nn.md" | sed '1,2d; /^$/d' >page
cmp -s models page || fail "docs/nn.md has other rows than featblas help --models: $(diff page models)"
for kind in $kinds; do
    grep -q "^|.*\`$kind\`.*<k>" "$FEATBLAS_SOURCE_DIR/docs/nn.md" || fail "docs/nn.md: no tensors of $kind"
    run 0 train data --model "$kind" --epochs 5 -q --weights-only --save m.safetensors
    one=$(sed -n 's/^test *accuracy //p' out)
    run 0 predict data --load m.safetensors -o y.tsv
    says "test $one"
done
run 0 train data --model sage --aggregate max --epochs 5 --layers 3 --activation elu --optimizer adamw --select last -q \
    --save m.safetensors
one=$(sed -n 's/^test *accuracy //p' out)
run 0 predict data --load m.safetensors -o y.tsv
says "test $one"

# The same bits: for one seed, for any threads, and in two halves
run 0 train data --epochs 20 -q --threads 1 --save one.safetensors
run 0 train data --epochs 20 -q --threads 2 --save two.safetensors
same one.safetensors two.safetensors
run 0 train data --epochs 4 -q --model gat --deterministic --threads 1 --save one.gat
FEATBLAS_L2=65536 run 0 train data --epochs 4 -q --model gat --deterministic --threads 3 --save two.gat
same one.gat two.gat
FEATBLAS_L2=65536 run 0 predict data --load one.gat --deterministic -q --threads 3 --write scores -o two.npy
run 0 predict data --load one.gat --deterministic -q --write scores -o one.npy
same one.npy two.npy
run 0 train data --epochs 12 -q --save half.safetensors
run 0 train data --resume half.safetensors --epochs 20 -q --save whole.safetensors
same one.safetensors whole.safetensors
run 0 train data --epochs 20 -q --seed 1 --save other.safetensors
cmp -s one.safetensors other.safetensors && fail "another seed gives the same weights"
# Nothing left to train: the model as it is
for epochs in 0 3 12; do
    run 0 train data --resume half.safetensors --epochs $epochs --save still.safetensors
    says "half.safetensors: has 12 epochs; up to --epochs $epochs none is left to train"
    same half.safetensors still.safetensors
done
run 0 train data --epochs 6 --model sage -q --save six.safetensors
run 0 train data --resume six.safetensors --epochs 4 --metrics json -q
silent
holds out '"runs": ['
run 3 train data --resume y.tsv
# What a resumed run has from its file is not given anew
for given in "--lr 0.1" "--weight-decay 0" "--hidden 16" "--layers 2" "--dropout 0" "--optimizer adam" "--seed 0" \
    "--select loss" "--activation elu" "--make-features no" "--normalize row" --undirected "--heads 2"; do
    run 2 train data --resume half.safetensors --epochs 13 $given
    says "${given%% *}: a resumed run has that of half.safetensors"
done
run 0 train data --epochs 3 -q --weights-only --save bare.safetensors
run 3 train data --resume bare.safetensors
says "bare.safetensors: has no state to resume from"

# Several seeds, figures for programs
run 0 train data --epochs 8 --repeat 3 --seed 5 --save m.safetensors
says "seed 7: 8 epochs"
holds out " over 3 seeds"
run 0 train data --epochs 4 --metrics json --repeat 2 -q
holds out '"runs": ['
holds out '"best_epoch": '
[ "$(grep -c '"val_loss"' out)" = 8 ] || fail "json: $(grep -c '"val_loss"' out) epochs"

# Targets
awk '{ print ($1 == 0 ? -1.5 : $1) }' data/labels.txt >t.txt
run 0 train data --labels t.txt --epochs 40 --save t.safetensors
says "1 targets"
holds out "test       error "
run 0 predict data --labels t.txt --load t.safetensors -o t.tsv
says "error: "
[ "$(wc -l <t.tsv)" = 400 ] || fail "targets: $(wc -l <t.tsv) lines"

# By hand: a GCN of one layer whose bias decides
one='\000\000\200\077' zero='\000\000\000\000'
names='{"convs.0.lin.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"convs.0.bias":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}'
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n' >g.mtx
printf '0\n1\n-1\n' >f.csv
safetensors hand.safetensors "$names" "$one" "$zero" "$zero" "$zero"
run 0 predict g.mtx --features f.csv --load hand.safetensors --write scores --normalize none
# row 2: 1 / 3 x 1 + (1 x 0 - 1 x 1) / sqrt(6)
awk 'NR == 2 { d = $1 + 0.0749149; if (d * d > 1e-10 || $2 != 0) bad = 1 } END { exit bad || NR != 3 }' out ||
    fail "by hand: $(cat out)"

# Refused, and nothing is left
cp labels.tsv before.tsv
run 3 predict data --load nowhere.safetensors -o labels.tsv
says "nowhere.safetensors"
run 3 predict data --load hand.safetensors -o labels.tsv
same labels.tsv before.tsv
run 3 predict g.mtx --features f.csv --load hand.safetensors --model sage
says "no tensor's name ends with lin_l.weight"
run 3 predict data --load a.safetensors --model sage
says "a.safetensors: holds a model of kind gcn; expected sage"
safetensors odd.safetensors "$(printf %s "$names" | sed 's/\[2\],/[1,2],/')" "$one" "$zero" "$zero" "$zero"
run 3 predict g.mtx --features f.csv --load odd.safetensors
says "odd.safetensors: tensor convs.0.bias is 1 x 2; expected 2"
safetensors more.safetensors "$(printf %s "$names" | sed 's/convs.0.bias/convs.0.extra/')" "$one" "$zero" "$zero" "$zero"
run 3 predict g.mtx --features f.csv --load more.safetensors
says "more.safetensors"
says "convs.0.bias"
safetensors whole.safetensors "$(printf %s "$names" | sed 's/F32","shape":\[2\],/I32","shape":[2],/')" "$one" "$zero" "$zero" "$zero"
run 3 predict g.mtx --features f.csv --load whole.safetensors
says "whole.safetensors: tensor convs.0.bias is of int32; expected floating-point weights"
head -c 200 a.safetensors >cut.safetensors
run 3 predict data --load cut.safetensors
says "cut.safetensors"
run 3 predict g.mtx --load hand.safetensors
run 2 predict data
says "predict needs --load FILE"
run 2 train data --model gnc
says "unknown model 'gnc'; did you mean 'gcn'?"
run 2 train data --resume a.safetensors --repeat 2
says "exclude each other"
run 2 train data --dropout 1
says "--dropout: 1 is outside"
run 2 train data --plot curve.pdf
says "the name's ending is none of .svg or .png"
# Two files of one name
cp a.safetensors same.svg
run 2 train data --epochs 2 --save same.svg --plot ./same.svg
says "--save and --plot name the same file"
run 2 train data --epochs 2 --save new.svg --plot ./new.svg
[ ! -e new.svg ] || fail "train: new.svg is written"
run 2 train data --resume same.svg --plot same.svg
run 2 predict data --load same.svg --plot same.svg
same same.svg a.safetensors
cp a.safetensors same.tsv
run 2 predict data --load same.tsv -o same.tsv
says "--load and --output name the same file"
same same.tsv a.safetensors
# Options of other kinds
run 2 train data --aggregate max
says "--aggregate: no option of gcn, but of sage"
run 2 train data --model gin --aggregate sum
run 2 train data --model gat --hops 3
says "--hops: no option of gat, but of sgc and appnp"
run 2 train data --model sgc --teleport 0.2
says "--teleport: no option of sgc, but of appnp"
run 2 train data --model sage --heads 2
says "--heads: no option of sage"
run 2 train data --output-heads 2
says "--output-heads: no option of gcn"
run 2 predict data --load a.safetensors --aggregate max
says "--aggregate: no option of gcn"
run 2 predict data --load a.safetensors --heads 2
# Features that are there are not made
run 2 train data --make-features one-hot
says "--make-features: data has features"
run 2 train g.mtx --features f.csv --make-features degree
says "exclude each other"
run 2 predict data --load a.safetensors --make-features degree
says "--make-features: data has features"
# A model of made features takes no others, however many they are; --make-features no says that it shall
run 0 train data/edges.mtx --labels data/labels.txt --split data/split.txt --make-features degree --epochs 2 -q --save made.safetensors
run 0 predict data/edges.mtx --load made.safetensors -q -o y.tsv
run 3 predict data --load made.safetensors
says "data: has features; the model in made.safetensors was trained on others, --make-features degree"
run 3 predict data/edges.mtx --features f.csv --load made.safetensors
says "f.csv: has features"
run 3 train data --resume made.safetensors --epochs 3
says "data: has features; the model in made.safetensors"
run 3 predict data --load made.safetensors --make-features no
says "6 features; expected 256"
# Paths that cannot be
run 3 train nosuch
says "nosuch: cannot read: No such file or directory"
run 3 predict nosuch.mtx --load a.safetensors
says "nosuch.mtx: cannot read: No such file or directory"
run 2 predict data --load a.safetensors -o p.xyz
says "p.xyz: the name's ending is none of"
run 2 predict data --load a.safetensors -o p.npz
run 5 train data --save data
says "data: is a folder"
run 5 predict data --load a.safetensors -o nowhere/p.tsv
says "there is no folder nowhere/"
run 3 train g.mtx --features f.csv
run 5 train data --save nowhere/m.safetensors
says "there is no folder nowhere/"
run 1 train data --lr 1e30 --epochs 50 --optimizer sgd -q
says "a smaller --lr may help"

# A signal ends it after the epoch, with a file to resume from
"$FEATBLAS_COMMAND" train data --epochs 100000000 --save stopped.safetensors >out 2>err &
process=$!
sleep 1
kill -TERM $process
wait $process
code=$?
[ $code -eq 143 ] || fail "train, SIGTERM: exit code $code: $(cat err)"
grep -q '^interrupted; seed 0: ' err || fail "train, SIGTERM: $(cat err)"
done=$(sed -n 's/^interrupted; seed 0: \([0-9]*\) epochs.*/\1/p' err)
run 0 train data --resume stopped.safetensors --epochs $((done + 2))
says "seed 0: $((done + 2)) epochs"
clean

# Pictures; fontconfig keeps memory until the end, which is not ours to free
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
run 0 train data --epochs 9 --repeat 2 -q --plot curve.svg
holds curve.svg "</svg>"
run 0 predict data --load a.safetensors --plot points.png
[ ! -s out ] || fail "predict --plot prints"
head -c 4 points.png | grep -q PNG || fail "points.png is no PNG"
finish
