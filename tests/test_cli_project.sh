# featblas project and info on graphs small enough to project by hand.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

cat >ratings.csv <<END
user,item,rating
ann,a,5
ann,b,3
bob,a,4
bob,b,1
bob,c,2
cid,c,5
cid,a,1
END
cat >matrix.mtx <<END
%%MatrixMarket matrix coordinate integer general
% the same graph
3 3 7
1 1 5
1 2 3
2 1 4
2 2 1
2 3 2
3 3 5
3 1 1
END

# ---- sides, ids
run 0 project ratings.csv
says "projecting 3 x 3, 7 entries onto 3 columns: 17 products"
says "standard output: 6 pairs"
prints <<END
a${tab}b${tab}2
b${tab}a${tab}2
a${tab}c${tab}2
c${tab}a${tab}2
b${tab}c${tab}1
c${tab}b${tab}1
END
run 0 project -q ratings.csv --onto user --triangle
silent
prints <<END
ann${tab}bob${tab}2
ann${tab}cid${tab}1
bob${tab}cid${tab}2
END
run 0 project -q ratings.csv --onto rows --triangle --columns user,item
holds out "ann${tab}bob${tab}2"
run 0 project ratings.csv --columns 2,1 --header --triangle
says "onto 3 columns"
holds out "ann${tab}bob${tab}2"
run 0 project ratings.csv --columns item,user --onto user --triangle
says "onto 3 user"
holds out "ann${tab}bob${tab}2"
run 2 project ratings.csv --onto itm
says "unknown side 'itm'; did you mean 'item'?"
run 2 project ratings.csv --columns user,item --onto rating
says "unknown side 'rating'"
run 0 project -q - --triangle <matrix.mtx
prints <<END
1${tab}2${tab}2
1${tab}3${tab}2
2${tab}3${tab}1
END
run 0 project -q - --triangle --onto user --columns user,item <ratings.csv
holds out "ann${tab}bob${tab}2"

# ---- formats: ids leave as they came in
run 0 project -q matrix.mtx --triangle -o pairs.mtx
run 0 project -q matrix.mtx -o pairs.csv --triangle
grep -qx '1,2,2' pairs.csv || fail "pairs.csv: $(cat pairs.csv)"
grep -q '^2 1 2$' pairs.mtx || fail "pairs.mtx: $(cat pairs.mtx)" # a symmetric file holds the lower triangle
run 0 info pairs.mtx
holds out "3 x 3, 6 entries"
gzip -c matrix.mtx >matrix.gz
run 0 project -q matrix.gz --triangle --format csv
prints <<END
1,2,2
1,3,2
2,3,1
END
run 0 project -q matrix.gz --triangle -o noending
grep -qx "1${tab}2${tab}2" noending || fail "noending: $(cat noending)"
run 2 project matrix.mtx -o pairs.docx
says "pairs.docx"
run 0 project -q matrix.gz --triangle --format mtx -o noending
holds noending "%%MatrixMarket"
run 2 project none.mtx --min-degree 5 --max-degree 2
says "--min-degree: 5, and --max-degree 2; no vertex has both"

# ---- weights
run 0 project -q ratings.csv --triangle --weight dot
prints <<END
a${tab}b${tab}19
a${tab}c${tab}13
b${tab}c${tab}2
END
run 0 project -q ratings.csv --triangle --weight jaccard --precision 4
prints <<END
a${tab}b${tab}0.6667
a${tab}c${tab}0.6667
b${tab}c${tab}0.3333
END
run 0 project -q ratings.csv --triangle --weight dot --unweighted
holds out "a${tab}b${tab}2"
run 0 project -q ratings.csv --triangle --semiring 'plus : min(a, b)' --epilogue 'h / (si + sj - h)'
holds out "b${tab}c${tab}0.1"
run 0 project -q ratings.csv --triangle --semiring 'plus : a / (a + b)' --precision 6
holds out "a${tab}b${tab}1.425"
run 0 project -q ratings.csv --triangle --epilogue 'h / (di + dj - h)' --precision 4
holds out "b${tab}c${tab}0.3333"

# ---- selection
run 0 project -q ratings.csv --min-weight 2 --triangle
prints <<END
a${tab}b${tab}2
a${tab}c${tab}2
END
run 0 project -q ratings.csv --weight dot --top-k 1
prints <<END
a${tab}b${tab}19
b${tab}a${tab}19
c${tab}a${tab}13
END
run 0 project -q ratings.csv --weight dot --where 'w > 10 ? i < j : 0'
prints <<END
a${tab}b${tab}19
a${tab}c${tab}13
END
run 0 project -q ratings.csv --self-loops --triangle
holds out "a${tab}a${tab}3"
run 0 project -q ratings.csv --min-degree 3
prints </dev/null
run 0 project -q ratings.csv --max-degree 2 --triangle
prints <<END
b${tab}c${tab}1
END
printf 'b\n\n  c \nb\n' >ids
printf '2\r\n' >numbers
run 0 project -q ratings.csv --sources ids
prints <<END
b${tab}a${tab}2
b${tab}c${tab}1
c${tab}a${tab}2
c${tab}b${tab}1
END
run 0 project -q ratings.csv --sources ids --targets ids
prints <<END
b${tab}c${tab}1
c${tab}b${tab}1
END
run 0 project -q matrix.mtx --targets numbers
prints <<END
1${tab}2${tab}2
3${tab}2${tab}1
END
: >nobody
run 0 project -q ratings.csv --sources nobody
prints </dev/null
printf 'a\nz\n' >wrong
run 3 project ratings.csv --sources wrong
says "wrong:2:1: no vertex 'z'"
printf '1\n4\n' >wrong
run 3 project matrix.mtx --sources wrong
says "wrong:2:1: vertex '4' is outside 1..3"
run 3 project matrix.mtx --sources nofile
says "nofile"

# ---- labels
cat >titles.csv <<END
id,year,title
a,1999,"First, of ""all"""
c,2001,Third
END
run 0 project -q ratings.csv --triangle --labels titles.csv:id,title
prints <<END
First, of "all"${tab}b${tab}2
First, of "all"${tab}Third${tab}2
b${tab}Third${tab}1
END
run 0 project -q ratings.csv --triangle --labels titles.csv:1,3 --format csv
holds out 'b,Third,1'
run 2 project ratings.csv --labels titles.csv:id,titel
says "did you mean 'title'?"
run 2 project ratings.csv --labels titles.csv
says "FILE:ID,LABEL"
run 3 project ratings.csv --labels nofile:id,title
printf 'n\tname\n2\ttwo\n' >names.tsv
run 0 project -q matrix.mtx --triangle --labels names.tsv:n,name
prints <<END
1${tab}two${tab}2
1${tab}3${tab}2
two${tab}3${tab}1
END

# ---- statistics, dry run, explain, check
run 0 project ratings.csv --weight dot --stats text
holds out "6, 66.7 % of 3 x 3"
holds out "2 to 19"
run 0 project ratings.csv --weight dot --stats json
holds out '"nvals": 6'
holds out '"sum": 68'
holds out '"products": 17'
run 0 project -q ratings.csv --stats json -o both.tsv
holds out '"nvals": 6'
[ "$(wc -l <both.tsv)" -eq 6 ] || fail "--stats with -o wrote $(cat both.tsv)"
run 0 project ratings.csv --dry-run -o never.tsv
holds out "17 exactly"
[ ! -e never.tsv ] || fail "--dry-run wrote a file"
run 0 project ratings.csv --dry-run --triangle --top-k 1
holds out "result           at most 2, about 2 entries;"
run 0 project ratings.csv --dry-run --min-degree 3 --min-weight 2
holds out "result           at most 0, about 0 entries before filters over weights"
run 0 project ratings.csv --dry-run --stats json
holds out '"products": 17'
run 0 project ratings.csv --dry-run --explain
run 0 project ratings.csv --explain
[ "$(wc -l <out)" -eq 6 ] || fail "--explain printed into the pairs"
run 0 project matrix.mtx --check --weight cosine
says "check: the result agrees"
printf 'u,i,t\na,x,4000000000\na,y,3900000000\nb,x,4100000000\nb,y,4000000000\nb,z,7\nc,z,3\nc,x,4000000000\n' >large.csv
for weight in dot cosine asymmetric-cosine msd w1+w2 pearson bm25; do
    run 0 project large.csv --check --weight $weight -o large.tsv
    says "check: the result agrees"
done
run 0 project large.csv --weight cosine --triangle -v
says "carried as fp64"
holds out "x${tab}y${tab}0.8198769751444599"
run 1 project large.csv --check --semiring 'plus : a * b'
says "warning: whole numbers may leave their 64 bits"
says "expected 3.2e+19"
run 0 project -q large.csv --check --semiring 'plus : fp64(a) * b' -o large.tsv
silent
run 0 project -q ratings.csv --check --semiring 'plus : fp32(a / 9)' -o all.tsv # sums of FP32
run 0 project -q ratings.csv --check --semiring 'plus : a * b' --epilogue 'fp32(h) / 3' -o all.tsv
# every function by itself, by both: a new row of operators.def is one of apps/oracle_value.c, too
awk -F', ' '/^FTB_OPERATOR\(/ && $2 ~ /^"[a-z]/ && $5 ~ /^(ORDER|REAL|CONVERT)$/ {
    gsub("\"", "", $2)
    print $2 ($3 == 1 ? "(a / 9)" : "(a / 9, b)")
}' "$FEATBLAS_SOURCE_DIR/semirings/operators.def" >functions
[ "$(grep -c . functions)" -ge 30 ] || fail "functions of operators.def: $(cat functions)"
while read -r function; do
    run 0 project ratings.csv --check -o all.tsv --semiring "plus : $function" </dev/null
    says "check: the result agrees"
done <functions
# every operator and function, together
run 0 project ratings.csv --check -o all.tsv --semiring 'plus : [min(a, b) - max(a, 2) + idiv(a, b), abs(a - b) * exp(-a), bitand(a, b) + (a < b ? 1 : step(b - 2)), log1p(a) / sqrt(b), tanh(a) + sigmoid(b) + erf(a / 9) + relu(a - 3), pow(a, 0.5) + floor(a / 2) + ceil(b / 2) + log2(b), int8(a * 100) + uint16(-b), leaky_relu(a - b) + elu(a - b) + expm1(a / 5) + lgamma(b)]' --epilogue 'h0 * h1 + dot([h2, h3], [h4, h5]) + sum([h6, di, dj]) + mean([h7, si]) + hypergeom_sf([1, nrows, di, dj])'
says "check: the result agrees"
run 0 info ratings.csv --json
holds out '"products_onto_cols": 17'
run 0 info matrix.mtx
holds out "3 x 3, 7 entries"
holds out "17 onto columns"

# ---- wrong input
run 3 project nofile.mtx
says "nofile.mtx"
printf '%%%%MatrixMarket matrix coordinate pattern general\n39 39 2\n1 1\n17 40\n' >broken.mtx
run 3 project broken.mtx
says "broken.mtx:4:4: column 40 is outside 1..39"
run 3 project broken.mtx -o result.tsv
[ ! -e result.tsv ] || fail "a wrong input left result.tsv"
: >empty
run 3 project empty
printf 'x,y\n1,2\n1,2\n' >twice.csv
run 3 project twice.csv --duplicates error
says "twice.csv:3: the same row and column as in line 2; duplicates are refused"
run 2 project ratings.csv --columns user,itm
says "unknown column 'itm'; did you mean 'item'?"
run 2 project ratings.csv --columns user
run 3 info broken.mtx
run 3 project . </dev/null

# ---- a memory limit that is too small says which one would do
"$FEATBLAS_COMMAND" gen -q bipartite --rows 2000 --cols 3000 --edges 40000 -o graph.mtx
run 4 project graph.mtx --memory-limit 1K
says "graph.mtx does not fit while it is read"
run 4 project graph.mtx --memory-limit 1M
says "memory limit: 1M are too few to read graph.mtx; for that "
run 0 project -q graph.mtx -o unlimited.tsv
for limit in 1200K 2M 3M 4M 6M; do
    "$FEATBLAS_COMMAND" project -q graph.mtx --memory-limit $limit -o limited.tsv 2>err
    code=$?
    if [ $code -eq 4 ] && grep -q 'limit that would do is' err; then
        run 0 project -q graph.mtx --memory-limit "$(sed 's/.* //' err)" -o limited.tsv
    elif [ $code -eq 4 ]; then
        says "are too few to read graph.mtx; for that "
        enough=$(sed 's/.*for that \([0-9]*[KMG]\) are enough$/\1/' err)
        "$FEATBLAS_COMMAND" project -q graph.mtx --memory-limit "$enough" -o limited.tsv 2>err ||
            says "limit that would do is" # for the projection
        run 0 info graph.mtx --memory-limit "$enough"
        continue
    elif [ $code -ne 0 ]; then
        fail "--memory-limit $limit: exit code $code: $(cat err)"
    fi
    cmp -s limited.tsv unlimited.tsv || fail "--memory-limit $limit gives another result"
done
# ... which then does, for every kernel and format, and a twentieth less does not
"$FEATBLAS_COMMAND" gen -q bipartite --rows 40 --cols 10000 --edges 8000 -o wide.npz
for options in "count --triangle" "cosine --top-k 5" "bm25 --where w>0" "msd" "pearson --min-degree 2"; do
    for format in tsv npz mtx; do
        # shellcheck disable=SC2086 # the weight and its options
        "$FEATBLAS_COMMAND" project -q wide.npz --memory-limit 600K --weight $options -o named.$format 2>err
        [ $? -eq 4 ] || fail "$options: 600K is enough: $(cat err)"
        least=$(sed 's/.* //; s/K$//' err)
        # shellcheck disable=SC2086
        run 0 project -q wide.npz --memory-limit "${least}K" --weight $options -o named.$format
        # shellcheck disable=SC2086
        run 4 project -q wide.npz --memory-limit "$((least * 95 / 100))K" --weight $options -o named.$format
        says "limit that would do is"
    done
done
run 0 project wide.npz --dry-run --threads 1 -o named.tsv
least=$(sed -n 's/.*; least limit //p' out)
run 0 project -q wide.npz --threads 1 --memory-limit "$least" -o named.tsv
run 4 project -q wide.npz --threads 1 --memory-limit "$((${least%K} * 95 / 100))K" -o named.tsv

clean
finish
