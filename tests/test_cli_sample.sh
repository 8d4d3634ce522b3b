# featblas sample: files of batches, statistics, and what is refused.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

run 0 gen chung-lu --vertices 2000 --seed 3 -o graph.npz
run 0 gen chung-lu --vertices 2000 --seed 3 -o graph.mtx
seq 0 2 600 >seeds.txt
seq 1 2 601 >seeds1.txt

run 0 sample --graph graph.npz --seeds seeds.txt --fanout 5,3 --batch 128 --edges -o batches
holds out "301 seeds in 3 batches"
grep -q 'edges in .* million a second' out || fail "no rate: $(cat out)"
[ "$(ls batches | wc -l)" -eq 15 ] || fail "files: $(ls batches)"
for file in vertices.npy hop0.npz hop1.npz edges0.npy edges1.npy; do
    [ -s batches/000002.$file ] || fail "000002.$file is missing"
done
clean
run 0 info batches/000002.hop0.npz
holds out "45 x" # the seeds that were left

# Texts: ids as the graph's file has them, and the same sample from either file.
run 0 sample --graph graph.npz --seeds seeds.txt --fanout 5,3 --batch 128 --format tsv -o text
run 0 sample --graph graph.mtx --seeds seeds1.txt --fanout 5,3 --batch 128 --format tsv -o text1
for file in 000000.hop0.tsv 000000.hop1.tsv 000001.hop1.tsv 000002.hop1.tsv; do
    cut -f1,2 text/$file >pairs # npz has ones for values
    cmp -s pairs text1/$file || fail "$file differs between npz and mtx"
done
awk '{ print $1 + 1 }' text/000001.vertices.tsv >shifted
cmp -s shifted text1/000001.vertices.tsv || fail "ids of mtx do not count from 1"
[ "$(head -128 text/000000.vertices.tsv | tr '\n' ' ')" = "$(head -128 seeds.txt | tr '\n' ' ')" ] ||
    fail "seeds do not come first"

# Every edge of a layer is one of the graph's, no target has more than its fanout.
tail -n +3 graph.mtx | grep -v '^%' | awk '{ print $1, $2 }' | sort >edges
awk 'NR == FNR { id[NR - 1] = $1; next } { print id[$1], id[$2] }' text1/000000.vertices.tsv text1/000000.hop1.tsv |
    sort >picked
[ -z "$(comm -13 edges picked)" ] || fail "picked edges that are not there: $(comm -13 edges picked | head -3)"
[ -s picked ] || fail "nothing was picked"
[ "$(cut -f1 text/000000.hop1.tsv | sort | uniq -c | awk '$1 > 3' | wc -l)" -eq 0 ] || fail "more than 3 picks"

# Once more, with other threads, the same bytes.
run 0 sample --graph graph.npz --seeds seeds.txt --fanout 5,3 --batch 128 --format tsv --threads 3 -o again
for file in text/*; do
    cmp -s "$file" "again/${file#text/}" || fail "$file differs between two runs"
done
run 0 sample --graph graph.npz --random 500 --fanout 4,all --seed 9
holds out "500 seeds in 1 batches"
run 0 sample --graph graph.npz --random 50 --fanout all --sampler bernoulli --key 0.25
run 0 sample --graph graph.npz --random 50 --fanout 40,40 --sampler ladies -o ladies
run 0 sample --graph graph.npz --random 50 --fanout 40,40 --sampler fastgcn
run 0 sample --graph graph.npz --random 50 --fanout 3 --sampler labor --iterations 2
run 2 sample --graph graph.npz --random 50 --iterations 2
says "iterations is 2; expected 0, or more with FTB_SAMPLE_LABOR"
run 0 sample --graph graph.npz --random 50 --fanout 3 --sampler labor --once --self --disjoint

run 2 sample --seeds seeds.txt
says "--graph is missing"
run 2 sample --graph graph.npz
says "expected --seeds FILE or --random N"
run 2 sample --graph graph.npz --random 3 --seeds seeds.txt
says "both --seeds and --random"
run 2 sample --graph graph.npz --random 3000
says "--random: 3000 seeds of 2000 vertices"
run 2 sample --graph graph.npz --random 3 --fanout 5,x
says "--fanout: '5,x' is no list"
run 2 sample --graph graph.npz --random 3 --fanout 5,-1
says "--fanout: '5,-1' is no list"
run 2 sample --graph graph.npz --random 3 --edges
says "--edges means nothing without --output"
run 2 sample --graph graph.npz --random 3 --key 'x +'
says "key: "
run 2 sample --graph graph.npz --random 3 --sampler topk
says "key is NULL; FTB_SAMPLE_TOPK"
echo 2000 >>seeds.txt
run 3 sample --graph graph.npz --seeds seeds.txt
says "seeds.txt: seed 302 is 2000; expected 0 to 1999"
printf '0\n' >zero.txt
run 3 sample --graph graph.mtx --seeds zero.txt
says "seed 1 is 0; expected 1 to 2000"
printf '1 2\n3 4\n' >list.tsv
run 3 sample --graph list.tsv --random 1
says "rows and columns have numbers apart"
run 5 sample --graph graph.npz --random 3 -o no/such
says "no/such: cannot make the folder"
finish
