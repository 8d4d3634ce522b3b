# What a command writes is none of its other files, however they are named.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

cat >in.tsv <<END
ann${tab}a${tab}5
ann${tab}b${tab}3
bob${tab}a${tab}4
END
cp in.tsv kept
printf 'a\n' >ids
printf 'id,title\na,First\n' >titles.csv

# refused ARGUMENT...: one file under two names; in.tsv and ids stay.
refused() {
    run 2 "$@"
    says "name the same file"
    cmp -s in.tsv kept || fail "featblas $case: in.tsv was written"
}

# ---- the same name, another name, a link, a hard link
ln -s in.tsv link.tsv
ln in.tsv hard.tsv
mkdir folder
ln -s .. folder/up
for name in in.tsv ./in.tsv folder/../in.tsv folder/up/in.tsv "$PWD/in.tsv" link.tsv hard.tsv; do
    refused project in.tsv -o "$name"
    says "INPUT and --output name the same file"
    refused project "$name" -o in.tsv
    refused project in.tsv --sources "$name" --output link.tsv
done
refused project in.tsv --sources ids -o ids
says "--sources and --output name the same file"
refused project in.tsv --targets ids -o ./ids
refused project in.tsv --labels titles.csv:id,title -o ./titles.csv
says "--output and --labels name the same file"
refused project in.tsv --labels ./in.tsv:1,2 -o x.tsv --dry-run --sources x.tsv
run 0 project in.tsv --sources ids --targets ids -q -o out.tsv # what is only read may be one
run 0 project -q in.tsv -o out.tsv                             # and what is there may be written again

# ---- standard input and output
"$FEATBLAS_COMMAND" project - -o in.tsv <in.tsv >out 2>err
[ $? -eq 2 ] || fail "project - -o in.tsv <in.tsv: $(cat err)"
says "standard input and --output name the same file"
cmp -s in.tsv kept || fail "project - -o in.tsv <in.tsv: in.tsv was written"
"$FEATBLAS_COMMAND" project in.tsv >>hard.tsv 2>err
[ $? -eq 2 ] || fail "project in.tsv >>hard.tsv: $(cat err)"
says "INPUT and standard output name the same file"
cmp -s in.tsv kept || fail "project in.tsv >>in.tsv: in.tsv was written"
"$FEATBLAS_COMMAND" info - <in.tsv >>in.tsv 2>err
[ $? -eq 2 ] || fail "info - <in.tsv >>in.tsv: $(cat err)"
run 0 project -q in.tsv -o /dev/null --format tsv --sources /dev/null # devices are no files
"$FEATBLAS_COMMAND" project -q - -o /dev/stdout <in.tsv >piped 2>err || fail "-o /dev/stdout: $(cat err)"

# ---- the other commands
cp in.tsv picture.svg
run 2 draw picture.svg -o ./picture.svg
says "INPUT and --output name the same file"
run 2 draw in.tsv --beside picture.svg -o picture.svg
says "--output and --beside name the same file"
cmp -s picture.svg kept || fail "draw: picture.svg was written"
refused plan --op spmm --graph in.tsv --dim 4 --wisdom in.tsv --measure
refused plan --op spmm --graph x --dim 4 --machine in.tsv --wisdom link.tsv
run 0 gen -q csbm --vertices 40 --classes 2 --features 3 --degree 4 -o data
cp data/edges.mtx edges
for name in edges features labels split; do
    file=$(ls data/$name.*)
    run 2 train data --epochs 1 --save "./$file"
    says "--save names a file of the data"
    run 2 predict data --load in.tsv -o "data/../$file"
    says "--output names a file of the data"
done
cmp -s edges data/edges.mtx || fail "train: data/edges.mtx was written"
run 2 train data/edges.mtx --features data/features.mtx --labels data/labels.txt --split data/split.txt \
    --save data/labels.txt
says "--labels and --save name the same file"
run 2 train data/edges.mtx --save data/edges.mtx
says "DIR|GRAPH and --save name the same file"
run 0 train data --epochs 1 -q --save a.safetensors
run 0 train data --epochs 2 -q --resume a.safetensors --save ./a.safetensors # goes on in one file
run 2 train data --resume a.safetensors --plot a.safetensors
run 2 train data --resume a.svg --plot ./a.svg
says "--resume and --plot name the same file"
ln -s new.npy later.npy # neither is there yet
run 2 train data --save new.svg --plot folder/../new.svg
says "--save and --plot name the same file"
run 2 predict data --load new.npy -o later.npy
says "--load and --output name the same file"

# ---- a link whose target is not there yet makes the target
ln -s target.tsv dangling.tsv
ln -s "$PWD/folder/deep.tsv" folder/second.tsv
ln -s folder/second.tsv chain.tsv
run 0 project -q in.tsv -o dangling.tsv
run 0 project -q in.tsv -o chain.tsv
[ -L dangling.tsv ] && [ -f target.tsv ] && [ ! -L target.tsv ] || fail "-o dangling.tsv replaced the link"
[ -L chain.tsv ] && [ -L folder/second.tsv ] && [ -f folder/deep.tsv ] || fail "-o chain.tsv replaced a link"
cmp -s target.tsv folder/deep.tsv || fail "links: two results"
ln -s nowhere/x.tsv lost.tsv
run 5 project -q in.tsv -o lost.tsv
says "lost.tsv"
ln -s loop.tsv loop.tsv
run 5 project -q in.tsv -o loop.tsv
says "loop.tsv"
ln -s made.csr dangling.csr
run 0 gen -q bipartite --rows 5 --cols 4 --edges 9 -o dangling.csr
[ -L dangling.csr ] && [ -f made.csr ] || fail "gen: the link was replaced"

clean
finish
