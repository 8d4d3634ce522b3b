# featblas gen csbm: the folder that train reads.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

run 0 gen csbm --vertices 300 --classes 3 --features 5 --degree 6 --train 0.5 --val 0.1 --seed 4 -o made
says "csbm: 300 vertices of 3 classes"
says "5 features"
holds made/edges.mtx "%%MatrixMarket matrix coordinate pattern symmetric"
holds made/features.mtx "300 5"
[ "$(sort -u made/labels.txt | tr '\n' ' ')" = "0 1 2 " ] || fail "labels: $(sort -u made/labels.txt)"
[ "$(sort -u made/split.txt | tr '\n' ' ')" = "test train val " ] || fail "split: $(sort -u made/split.txt)"
[ "$(wc -l <made/labels.txt)" -eq 300 ] || fail "labels are not 300"
[ "$(wc -l <made/split.txt)" -eq 300 ] || fail "words of the split are not 300"
run 0 info made/edges.mtx
holds out "symmetric        yes"
clean

run 0 gen csbm -q --vertices 300 --classes 3 --features 5 --degree 6 --train 0.5 --val 0.1 --seed 4 -o again
silent
for file in edges.mtx features.mtx labels.txt split.txt; do
    cmp -s made/$file again/$file || fail "$file differs between two runs"
done
run 0 gen csbm -q --vertices 300 --classes 3 --features 5 --degree 6 --shuffle-edges --seed 4 -o shuffled
cmp -s made/features.mtx shuffled/features.mtx || fail "features differ where only edges were shuffled"
cmp -s made/edges.mtx shuffled/edges.mtx && fail "edges are the same though they were shuffled"

run 2 gen csbm
says "gen csbm makes a folder: --output names it"
run 2 gen csbm --scale 3 -o x
says "--scale means nothing to gen csbm"
run 2 gen rmat --homophily 0.5 -o x.mtx
says "--homophily means nothing to gen rmat"
run 2 gen csbm --homophily -2 -o x
says "homophily -2; for 2 classes expected -1 to 1"
run 5 gen csbm --vertices 20 -o no/such
says "no/such: cannot make the folder"
run 4 gen csbm --vertices 1000000000 --memory-limit 1G -o x
[ ! -e x ] || fail "x was made"
finish
