# Known answers on real data, found through FEATBLAS_DATA.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1
if [ -z "${FEATBLAS_DATA:-}" ] || [ ! -e "$FEATBLAS_DATA/chesapeake.mtx" ]; then
    echo "skipped: FEATBLAS_DATA does not name the folder with the data"
    exit 77
fi

run 0 project -q "$FEATBLAS_DATA/chesapeake.mtx" -o pairs.tsv
for pair in "1 2 9" "1 3 1" "1 4 2" "39 36 28" "39 37 2" "39 38 18"; do
    line=$(echo "$pair" | tr ' ' '\t')
    grep -qx "$line" pairs.tsv || fail "chesapeake: no $pair"
done
for weight in $("$FEATBLAS_COMMAND" project --help-weights | sed -n 's/^  \([a-z][^ ]*\) .*/\1/p'); do
    run 0 project "$FEATBLAS_DATA/karate.mtx" --weight "$weight" --check --stats text
    says "check: the result agrees"
done

# MovieLens latest-small
ratings=$FEATBLAS_DATA/ml-latest-small/ratings.csv
movies=$FEATBLAS_DATA/ml-latest-small/movies.csv
if [ -e "$ratings" ]; then
    run 0 project "$ratings" --columns userId,movieId,rating --onto movieId --dry-run
    holds out "610 x 9,724, 100,836 entries"
    holds out "60,894,136 exactly"
    run 0 project "$ratings" --onto userId --stats json
    holds out '"products": 5924700'
    run 0 project "$ratings" --columns userId,movieId,rating --onto movieId --weight jaccard --min-weight 0.05 \
        --top-k 20 --labels "$movies:movieId,title" -o similar.tsv
    says "projecting 610 x 9,724, 100,836 entries onto 9,724 movieId: 60,894,136 products"
    says "similar.tsv: "
    holds similar.tsv "Toy Story (1995)${tab}Toy Story 2 (1999)${tab}"
    run 0 project "$ratings" --onto userId --weight pearson --top-k 10 --check --stats text
    says "check: the result agrees"
fi
clean
finish
