# Ids leave as they came in, whatever the formats.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

cat >matrix.mtx <<END
%%MatrixMarket matrix coordinate integer general
3 3 7
1 1 5
1 2 3
2 1 4
2 2 1
2 3 2
3 3 5
3 1 1
END
run 0 project -q matrix.mtx -o pairs.tsv
run 0 project -q matrix.mtx -o square.npz
run 0 project -q matrix.mtx -o square.csr
for file in square.npz square.csr; do
    run 0 project -q $file --triangle --weight dot
    prints <<END
0${tab}1${tab}2
0${tab}2${tab}2
1${tab}2${tab}4
END
    run 0 project -q $file --triangle --weight dot -o again.mtx
    grep -q '^2 1 2$' again.mtx || fail "$file to mtx: $(cat again.mtx)" # the lower triangle of a symmetric file
    run 0 project -q - --triangle --weight dot <$file
    holds out "1${tab}2${tab}4"
    "$FEATBLAS_COMMAND" project -q matrix.mtx --format ${file#square.} | cat >piped
    run 0 info piped --json
    holds out '"nvals": 6'
    printf '3\n' >ids
    run 3 project $file --sources ids
    says "ids:1:1: vertex '3' is outside 0..2"
done
run 3 project matrix.mtx --input-format npz
run 3 project matrix.mtx --input-format csr
run 3 info square.npz --input-format mtx

# Results without pairs
for ending in tsv csv mtx npz csr; do
    run 0 project -q matrix.mtx --min-weight 99 -o none.$ending
    [ -e none.$ending ] || fail "no none.$ending"
done
for ending in mtx npz csr; do
    run 0 info none.$ending
    holds out "3 x 3, 0 entries"
done

# Numbers of an edge list are ids, not positions
printf '30,7,1\n20,7,2\n30,9,3\n' >numbers.csv
run 0 project -q numbers.csv --onto rows
prints <<END
20${tab}30${tab}1
30${tab}20${tab}1
END
printf '30\n' >ids
run 0 project -q numbers.csv --onto rows --sources ids
prints <<END
30${tab}20${tab}1
END
run 0 project -q numbers.csv --onto rows --format mtx
holds out "2 1 1"

# Edge lists are named by their delimiter
run 0 info numbers.csv
holds out "numbers.csv, edge list (CSV)"
tr , '\t' <numbers.csv >numbers.txt
run 0 info numbers.txt
holds out "numbers.txt, edge list (TSV)"

# Far more rows than entries: nothing takes room for each of them
cat >far.mtx <<END
%%MatrixMarket matrix coordinate integer general
4000000000 4000000000 4
4000000000 1 5
1 4000000000 5
7 9 3
7 10 1
END
run 0 info far.mtx
holds out "as the 3 rows that have entries (hypersparse)"
holds out "symmetric        no"
holds out "max 2; 3999999997 empty"
run 0 info far.mtx --json
holds out '"listed_rows": 3'
# What would say so of each is refused in the command's words, not in the library's.
sed 's/4000000000/4000000000000000/g' far.mtx >farther.mtx
printf '7\n' >seeds
printf '7 9\n' >pairs
for words in "project farther.mtx" "draw farther.mtx -o x.svg"; do
    # shellcheck disable=SC2086
    run 4 $words
    says "farther.mtx: far more rows than entries"
    says "or an edge list (.tsv, .csv)"
done
for words in "" "--walk 3" "--negative 2" "--exclude pairs"; do
    # shellcheck disable=SC2086
    run 4 sample --graph farther.mtx --seeds seeds $words
    says "farther.mtx: far more rows than entries"
done
run 4 sample --relation a:b:c=farther.mtx --seeds seeds
says "farther.mtx: far more rows than entries"
run 4 run cf farther.mtx
says "farther.mtx: far more rows than entries"

if [ -n "${FEATBLAS_DATA:-}" ] && [ -e "$FEATBLAS_DATA/chesapeake.mtx" ]; then
    run 0 project -q "$FEATBLAS_DATA/chesapeake.mtx" -o pairs.tsv
    for ending in npz csr mtx; do
        run 0 project -q "$FEATBLAS_DATA/chesapeake.mtx" -o pairs.$ending
        run 0 info pairs.$ending --json
        holds out "\"nvals\": $(wc -l <pairs.tsv | tr -d ' '),"
    done
fi
clean
finish
