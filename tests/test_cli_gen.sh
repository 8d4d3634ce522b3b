# featblas gen: csbm, the folder that train reads, and kron and uniform, GAP's graphs and files.
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
says "no/such: there is no folder no/"
run 4 gen csbm --vertices 1000000000 --memory-limit 1G -o x
[ ! -e x ] || fail "x was made"

# What GAP's converter writes: -g 6, -u 6 -w (crc32 of cksum), and the same by way of other formats.
run 0 gen kron --scale 6 --symmetric -o k.sg
says "kron: 64 x 64"
[ "$(cksum <k.sg)" = "3882132964 3657" ] || fail "kron differs from GAP's: $(cksum <k.sg)"
run 0 gen uniform -q --scale 6 --symmetric -o u.wsg
[ "$(cksum <u.wsg)" = "2179706293 13177" ] || fail "uniform differs from GAP's: $(cksum <u.wsg)"
run 0 info u.wsg
holds out "serialized weighted graph (GAP)"
holds out "symmetric        yes"
run 0 gen uniform -q --scale 6 --symmetric --values weights -o u.mtx
run 0 run sssp u.mtx -q --sources 3 -o d.npy
run 0 run sssp u.wsg -q --sources 2 -o e.npy # which counts from 0
cmp -s d.npy e.npy || fail "the same graph in two formats has two answers"
run 0 gen uniform -q --scale 6 --symmetric -o ones.wsg --values pattern
run 0 run bfs k.sg -q --sources 0 -o b.tsv
cat k.sg | "$FEATBLAS_COMMAND" run bfs - -q --sources 0 -o c.tsv && cmp -s b.tsv c.tsv || fail "from a pipe: $(cat c.tsv)"
run 0 gen kron -q --scale 6 --symmetric --format sg
cmp -s out k.sg || fail "to a pipe differs"


# A projection is collected, so that a limit is of all of it; weights must be whole.
run 0 gen bipartite --rows 300 --cols 800 --edges 30000 -q -o bp.csr
run 0 project bp.csr -q -o pairs.wsg
run 0 info pairs.wsg
holds out "symmetric        yes"
run 4 project bp.csr -q --memory-limit 3M -o none.wsg
says "more would make"
run 1 project bp.csr -q --weight jaccard -o none.wsg
says "expected a whole number of 32 bits"
[ ! -e none.wsg ] || fail "a file of what does not fit"

run 2 gen rmat --values weights -o x.mtx
says "--values weights means nothing to gen rmat"
run 2 gen kron --permute -o x.sg
says "--permute means nothing to gen kron"
run 2 gen kron --scale 0 -o x.sg
says "kron: scale 0; expected 1 to 30"
run 2 gen kron --seed 4294967296 -o x.sg
says "--seed: 4294967296 is outside 0..4294967295"
run 2 gen uniform --seed 4294967296 -o x.sg
run 0 gen uniform -q --scale 4 --seed 4294967295 -o x.sg
run 0 gen rmat -q --scale 4 --seed 4294967296 -o x.mtx
run 4 gen rmat --scale 24 --memory-limit 100M -o y.mtx
says "--memory-limit: 100M is too small for this graph, which takes about "
grep -q 'about [0-9]*[KMG]$' err || fail "other units than the limit's: $(cat err)"
rm x.sg
run 2 gen kron -q --scale 4 --values weights -o x.sg
says "--values weights: an .sg file has none"
run 2 gen rmat -q --values uniform -o x.wsg
says "--values uniform: a .wsg file has whole numbers"
for factor in -1 1e18 inf; do
    run 2 gen rmat --edge-factor $factor -o x.mtx
    says "--edge-factor: "
done
run 2 project bp.csr -q -o x.sg
says "--output: an .sg file has no weights"
run 4 gen kron --scale 24 --memory-limit 1G -o x.sg
[ ! -e x.sg ] || fail "x.sg was made"
finish
