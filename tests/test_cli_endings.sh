# What a command is to write and read is looked at before anything is read: endings that no format has, folders, files.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

# Inputs that are not there would be exit code 3: what is refused with another was refused before them.
printf '0.5\n' >n.txt
mkdir data full
: >full/file
commands="run bfs none.mtx --sources 1 -o
run cf none.csv -o
run cf none.csv --items
project none.csv -o
partition none.mtx --parts 2 -o
draw none.mtx -o
gen kron --scale 30 -o
predict data --load n.txt -o
predict data --load n.txt --plot
train data --plot"
echo "$commands" >commands
while read -r command; do
    # shellcheck disable=SC2086
    run 2 $command x.foo
    says ": x.foo: the name's ending is none of ."
    case $command in *plot | draw*) ending=.PNG ;; *) ending=.TSV ;; esac # in either case
    # shellcheck disable=SC2086
    run 5 $command nowhere/x$ending
    says "nowhere/x$ending: there is no folder nowhere/"
done <commands
run 2 run bfs none.mtx --sources 1 -o x.npz # a format of matrices
says "--output: x.npz: the name's ending is none of .mtx, .tsv, .txt, .csv or .npy"
run 2 project none.csv -o x.npy # a format of blocks
run 2 run bfs none.mtx --sources 1 -o x.mtx.gz
run 2 run bfs none.mtx --sources 1 -o ''
says "--output: the name is empty"
run 5 run bfs none.mtx --sources 1 -o full
says "full: is a folder; --output names a file"
run 3 project none.csv -o x.foo --format csr
run 3 project none.csv -o x.foo --dry-run
run 5 train data --save nowhere/x.any
run 2 train data --save ''
run 5 plan --op spmm --graph n.txt --dim 4 --measure --wisdom nowhere/w
run 5 plan --calibrate --wisdom nowhere/w
run 3 plan --op spmm --graph none.mtx --dim 4 --wisdom nowhere/w # only read

# Folders
run 5 sample --graph none.mtx --random 1 -o nowhere/batches
says "nowhere/batches: there is no folder nowhere/"
run 5 sample --graph none.mtx --random 1 -o n.txt
says "n.txt: is a file; expected a folder, or none"
run 5 demo n.txt
says "n.txt: is a file; expected a folder, or none"
[ ! -s out ] || fail "demo: printed $(cat out)"
run 5 gen csbm --vertices 1000000000 -o full/file
says "full/file: is a file; expected a folder, or none"
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w full
    run 5 sample --graph none.mtx --random 1 -o full
    says "full: the folder cannot be written to"
    run 5 run bfs none.mtx --sources 1 -o full/x.tsv
    says "full/x.tsv: the folder full/ cannot be written to"
    chmod u+w full
fi

# Names without an ending are written as standard output is.
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n' >g.mtx
for command in "run bfs g.mtx --sources 1" "run cf g.mtx --rounds 1" "project g.mtx" "partition g.mtx --labels parts.txt"; do
    printf '0\n1\n1\n' >parts.txt
    # shellcheck disable=SC2086
    run 0 $command -q -o plain
    # shellcheck disable=SC2086
    run 0 $command -q -o named.tsv
    cmp -s plain named.tsv || fail "featblas $case: $(cat plain) without an ending"
done
run 0 gen kron -q --scale 3 -o plain
run 0 gen kron -q --scale 3
cmp -s plain out || fail "gen without an ending: $(cat plain)"

# Files that options read, before the graph is.
: >graph.mtx # which is empty: exit code 3, too, with another message
for words in "run pagerank graph.mtx --from" "run bfs graph.mtx --sources" "project graph.mtx --sources" "project graph.mtx --targets" \
    "sample --graph graph.mtx --seeds" "sample --graph graph.mtx --random 1 --exclude" "partition graph.mtx --labels" \
    "draw graph.mtx -o x.svg --beside" "plan --op spmm --dim 4 --graph graph.mtx --machine" "train data --features" \
    "train data --resume" "predict data --load"; do
    # shellcheck disable=SC2086
    run 3 $words nowhere.npy
    says "nowhere.npy: cannot read: No such file or directory"
done
run 3 project graph.mtx --labels nowhere.csv:1,2
says "nowhere.csv: cannot read"
run 2 project none.mtx --labels nowhere.csv
says "--labels: 'nowhere.csv' is not FILE:ID,LABEL"
run 2 run pagerank none.mtx --from ''
says "--from: the name is empty"

# A binary file by its name whose first bytes are damaged is no edge list.
run 0 gen kron -q --scale 4 --symmetric -o k.sg
run 0 gen kron -q --scale 4 --symmetric -o k.wsg
run 0 gen kron -q --scale 4 --symmetric -o k.csr
for ending in sg wsg csr; do
    { printf '\007\007\007\007' && tail -c +5 k.$ending; } >bad.$ending
    run 3 info bad.$ending
    says "bad.$ending: "
    grep -q "delimiter\|field\|comma" err && fail "featblas $case: taken for an edge list: $(cat err)"
done
run 3 run bfs bad.sg --sources 1
says "bad.sg: is no serialized graph of GAP"
printf 'a,b\n' >list.npy
run 3 info list.npy
says "list.npy: expected a matrix; npy files hold dense arrays"
grep -q FtB_ err && fail "functions of the library: $(cat err)"
printf '1\n' >list.npy
run 3 run pagerank g.mtx --from list.npy
says "list.npy: "
clean
finish
