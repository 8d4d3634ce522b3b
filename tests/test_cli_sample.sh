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

# Entries are named as the file has them.
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 2\n3 2 0.5\n2 1 2\n' >w.mtx
run 2 sample --graph w.mtx --random 3 --fanout 1 --key 'x - 1'
holds err "w.mtx: key is -0.5 for the entry of 3 and 2; expected a finite number, 0 or more"
run 2 sample --graph w.mtx --random 3 --fanout 1 --key 'j == 0 ? 0 : x'
holds err "w.mtx: key: the weights of row 2 are all 0; expected one above 0"
run 2 sample --graph w.mtx --random 3 --fanout 1 --sampler threshold --key x --threshold 1
holds err "--sampler threshold takes --fanout all"

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
says "--iterations is 2; expected 0, or more with --sampler labor"
run 0 sample --graph graph.npz --random 50 --fanout 3 --sampler labor --once --self --disjoint

run 2 sample --seeds seeds.txt
says "--graph is missing, or --relation"
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
says "--key is missing: --sampler topk"
echo 2000 >>seeds.txt
run 3 sample --graph graph.npz --seeds seeds.txt
says "seeds.txt: seed 302 is 2000; expected 0 to 1999"
printf '0\n' >zero.txt
run 3 sample --graph graph.mtx --seeds zero.txt
says "seed 1 is 0; expected 1 to 2000"
printf -- '-9223372036854775808\n' >least.txt
run 3 sample --graph graph.mtx --seeds least.txt
says "seed 1 is -9223372036854775808; expected 1 to 2000"
printf -- '1 -9223372036854775808\n' >least.txt
run 3 sample --graph graph.mtx --random 1 --exclude least.txt
says "pair 1, 1 and -9223372036854775808, is no entry of graph.mtx"
printf '1 2\n3 4\n' >list.tsv
run 3 sample --graph list.tsv --random 1
says "rows and columns have numbers apart"
run 5 sample --graph graph.npz --random 3 -o no/such
says "no/such: there is no folder no/"

# Texts: numbers as the graph's file has them.
seq 1 2 601 >seeds1.txt
run 0 sample --graph graph.mtx --seeds seeds1.txt --negative 3 --fanout 2 --format tsv -o negative
holds out "903 pairs without an entry"
tr "$tab" ' ' <negative/000000.negative.tsv | sort >pairs
[ "$(wc -l <pairs)" -eq 903 ] || fail "not 3 pairs a seed: $(wc -l <pairs)"
[ -z "$(comm -12 edges pairs)" ] || fail "pairs that the graph has: $(comm -12 edges pairs | head -3)"
[ "$(sort -u pairs | wc -l)" -eq 903 ] || fail "pairs come again"
[ "$(cut -d' ' -f1 pairs | sort -u | tr '\n' ' ')" = "$(sort seeds1.txt | tr '\n' ' ')" ] || fail "not the seeds' rows"
[ -z "$(awk '$1 == $2 || $2 < 1 || $2 > 2000' pairs)" ] || fail "loops, or vertices that are not there"
run 0 sample --graph graph.mtx --seeds seeds1.txt --walk 4 --walks 2 --format tsv -o walks
holds out "602 walks of 4 steps, of which"
grep -q ' steps in .* million a second' out || fail "no rate: $(cat out)"
cut -f1 walks/000000.walks.tsv | awk 'NR % 2' | cmp -s - seeds1.txt || fail "walks do not begin at the seeds"
for step in 1 2 3 4; do
    cut -f$step,$((step + 1)) walks/000000.walks.tsv | tr "$tab" ' '
done | grep -v -- -1 | sort -u >steps
[ -z "$(comm -13 edges steps)" ] || fail "steps that are no edges: $(comm -13 edges steps | head -3)"
run 0 sample --graph graph.mtx --random 20 --fanout 3 --disjoint --format tsv -o trees
[ "$(sort -n trees/000000.trees.tsv | tail -1)" = 19 ] || fail "trees are not the seeds' places"
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n' >line.mtx
printf '1\n' >first.txt
run 0 sample --graph line.mtx --seeds first.txt --walk 5 --format tsv -o line
[ "$(cat line/000000.walks.tsv)" = "1${tab}2${tab}3${tab}-1${tab}-1${tab}-1" ] || fail "$(cat line/000000.walks.tsv)"
holds out "1 walks of 5 steps, of which 1 ended before"

# Edges that are left out.
printf '1 2\n' >gone.txt
run 0 sample --graph line.mtx --seeds first.txt --exclude gone.txt --fanout 3,3
holds out "0 edges in"
printf '0\n' >place.txt
run 0 sample --graph line.mtx --seeds first.txt --exclude place.txt --fanout 3,3
holds out "0 edges in"

# Relations.
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 2 3\n1 1\n1 2\n3 2\n' >writes.mtx
run 0 sample --relation writes:author:paper=writes.mtx --relation cites:paper:paper=line.mtx --seeds first.txt \
    --fanout all,all/1,1 --format tsv -o relations
holds out "1 seeds in 1 batches"
[ "$(tr '\n' ' ' <relations/000000.author.vertices.tsv)" = "1 2 " ] || fail "authors"
[ "$(tr '\n' ' ' <relations/000000.paper.vertices.tsv)" = "1 2 3 " ] || fail "papers"
[ "$(ls relations | wc -l)" -eq 6 ] || fail "files: $(ls relations)"
run 0 sample --relation writes:author:paper=writes.mtx --type author --random 2 --fanout 1
holds out "0 edges in"

# Files that number a type from 0 and from 1: texts with its numbers are refused, all else is not.
printf '1\n2\n3\n' >three.txt
run 0 sample --graph line.mtx --seeds three.txt --fanout all -o line # whose layer is the graph
mixed="--relation cites:paper:paper=line.mtx --relation likes:paper:paper=line/000000.hop0.npz --fanout all"
# shellcheck disable=SC2086
{
    run 3 sample $mixed --seeds first.txt
    says "first.txt: 'paper' is numbered from 1 in line.mtx and from 0 in line/000000.hop0.npz; expected .npy"
    run 3 sample $mixed --random 2 --format tsv -o mixed
    says "--format tsv: 'paper' is numbered from 1 in line.mtx and from 0 in line/000000.hop0.npz; expected npz"
    [ ! -e mixed ] || fail "files of what is refused"
    run 0 sample $mixed --random 2 -o mixed
    run 0 sample $mixed --seeds mixed/000000.paper.vertices.npy --format tsv # nothing is written
    run 0 sample $mixed --relation writes:author:paper=writes.mtx --type author --seeds first.txt
}

while read -r words; do
    # shellcheck disable=SC2086
    run 2 sample ${words%%|*}
    says "${words#*|}"
done <<END
--graph graph.npz --random 3 --until 3|--until means nothing without --times
--graph graph.npz --random 3 --times values|--times: the seeds' moments are missing
--graph graph.npz --random 3 --exclude-reverse|--exclude-reverse means nothing without --exclude
--graph graph.npz --random 3 --negative-global|--negative-global means nothing without --negative
--graph graph.npz --random 3 --negative-loops|--negative-loops means nothing without --negative
--graph graph.npz --random 3 --negative 0|--negative: 0 is too small
--graph graph.npz --random 3 --type a|--type means nothing without --relation
--graph graph.npz --random 3 --walks 3|--walks means nothing without --walk
--graph graph.npz --random 3 --restart 0.2|--restart means nothing without --walk
--graph graph.npz --random 3 --p 2|--p means nothing without --walk
--graph graph.npz --random 3 --walk 3 --fanout 5|--fanout means nothing with --walk
--graph graph.npz --random 3 --walk 3 --negative 5|--negative means nothing with --walk
--graph graph.npz --random 3 --walk 3 --once|--once means nothing with --walk
--graph graph.npz --random 3 --walk 3 --restart 1|--restart is 1
--graph graph.npz --random 3 --walk 3 --q -1|--q is -1
--graph graph.npz --random 3 --sampler last|times is missing
--graph graph.npz --random 3 --sampler weighted|--key is missing: --sampler weighted needs an expression
--graph graph.npz --random 3 --iterations 3|--iterations is 3; expected 0, or more with --sampler labor
--graph graph.npz --random 3 --key zz|--key: unknown name 'zz' at column 1
--graph graph.npz --random 3 --fanout 3/2|has more lists than there are relations, 1
--graph graph.npz --relation a:b:c=x --random 3|--graph means nothing with --relation
--relation a:b:c=x --random 3 --exclude graph.npz|--exclude means nothing with --relation
--relation a:b:c=x --random 3 --negative 3|--negative means nothing with --relation
--relation a:b:c=x --random 3 --times t --until 3|--times: with --relation expected values
--relation a:b=x --random 3|'a:b=x' is not NAME:SOURCE:DESTINATION=FILE
--relation a:b:c --random 3|'a:b:c' is not NAME:SOURCE:DESTINATION=FILE
--relation a:b:c:d=x --random 3|is not NAME:SOURCE:DESTINATION=FILE
--relation a/b:c:d=x --random 3|is not NAME:SOURCE:DESTINATION=FILE
--relation cites:p:p=line.mtx --random 2 --type papers|unknown type 'papers'
--relation cites:p:p=line.mtx --random 2 --fanout 2,2/3|has more lists than there are relations, 1
--relation a:p:p=line.mtx --relation b:p:p=line.mtx --random 2 --fanout 2,2/3|has lists of 2 and of 1 hops
--relation a:p:p=line.mtx --relation b:p:p=line.mtx --relation c:p:p=line.mtx --random 2 --fanout 2/3|has 2 lists; expected one
END
while read -r words; do
    # shellcheck disable=SC2086
    run 3 sample ${words%%|*}
    says "${words#*|}"
done <<END
--graph line.mtx --random 2 --times first.txt --until 3|first.txt: 1 numbers; expected 2, one for each entry
--graph line.mtx --random 2 --times values --until 3|line.mtx: entries have no values
--graph graph.npz --random 2 --times values --until first.txt|first.txt: 1 numbers; expected 2, one for each seed
--graph graph.npz --random 2 --times values --until absent.txt|absent.txt
--graph line.mtx --random 2 --exclude pairs|is no entry of line.mtx
--graph line.mtx --random 2 --exclude seeds1.txt|seeds1.txt: place 2 is 3; expected 0 to 1
--graph line.mtx --random 2 --exclude walks/000000.walks.tsv|5 columns; expected a number, or a row and a column
--relation a:b:c=absent.npz --random 2|absent.npz
--relation writes:author:paper=writes.mtx --relation cites:author:author=line.mtx --random 2|A has 3 rows; expected 2
--relation a:p:p=line.mtx --relation a:p:p=line.mtx --random 2|relation "a" from "p" to "p" is there
--relation a:p:p=list.tsv --random 2|rows and columns have numbers apart
END
run 0 sample --graph graph.npz --random 2 --exclude-reverse --exclude zero.txt --fanout 2
finish
