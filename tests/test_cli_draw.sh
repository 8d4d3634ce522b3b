#!/usr/bin/env bash
# featblas draw, gen and demo: the files they write, and what they refuse.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
featblas=$FEATBLAS_COMMAND
# graphviz and fontconfig keep memory until the end; it is not ours to free.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

fail() {
    echo "test_cli_draw: $*" >&2
    exit 1
}
is_png() { [ "$(head -c 4 "$1" | tail -c 3)" = PNG ] || fail "$1 is not a PNG"; }
is_svg() { grep -q '<svg' "$1" && grep -q '</svg>' "$1" || fail "$1 is not a whole SVG"; }
# refuses CODE TEXT COMMAND...: exit code, message, and no output file
refuses() {
    local code=$1 text=$2 got=0
    shift 2
    "$@" > out.txt 2> err.txt || got=$?
    [ "$got" = "$code" ] || fail "$*: exit code $got, expected $code: $(cat err.txt)"
    grep -qF -- "$text" err.txt || fail "$*: '$text' is not in: $(cat err.txt)"
    [ ! -e no.svg ] || fail "$*: left an output file"
}

printf 'user,item,rating\nann,x,5\nann,y,3\nbob,x,4\nbob,z,1\ncat,y,2\n' > small.csv
"$featblas" gen sbm --vertices 80 --blocks 4 --edge-factor 3 --symmetric -q -o sbm.mtx
"$featblas" gen bipartite --rows 3000 --cols 700 --edges 20000 -q -o large.tsv
"$featblas" gen powerlaw --vertices 500 --edge-factor 2 -q | "$featblas" info - > info.txt
grep -q '500 x 500' info.txt || fail "info of a generated graph: $(cat info.txt)"
"$featblas" gen rmat --scale 6 --seed 5 --values counts -q -o a.tsv --threads 1
"$featblas" gen rmat --scale 6 --seed 5 --values counts -q -o b.tsv --threads 3
cmp a.tsv b.tsv

for kind in pattern degrees graph projection; do
    "$featblas" draw small.csv --kind $kind -o small-$kind.svg
    is_svg small-$kind.svg
    "$featblas" draw sbm.mtx --kind $kind -o sbm-$kind.png
    is_png sbm-$kind.png
done
for kind in pattern degrees projection; do
    "$featblas" draw large.tsv --kind $kind -o large-$kind.png --width 400
    is_png large-$kind.png
done
"$featblas" draw large.tsv --beside sbm.mtx --title 'two' -o beside.svg
is_svg beside.svg
printf 'caf\303\251,\377\376\nbad\302,a name that is far longer than there is room for in any picture\n' > names.csv
for kind in pattern graph; do
    "$featblas" draw names.csv --kind $kind --no-header --title $'t\001\355\240\200' -o names-$kind.svg
    is_svg names-$kind.svg
done
printf '%%%%MatrixMarket matrix coordinate real general\n5 4 0\n' > empty.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' > none.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.5\n' > one.mtx
for matrix in empty none one; do
    for kind in pattern degrees graph; do
        "$featblas" draw $matrix.mtx --kind $kind -o $matrix-$kind.png
        is_png $matrix-$kind.png
    done
done

refuses 2 'needs --output' "$featblas" draw small.csv
refuses 2 '.svg or .png' "$featblas" draw small.csv -o no.pdf
refuses 2 'outside 100..20000' "$featblas" draw small.csv -o no.svg --width 3
refuses 2 "did you mean 'pattern'" "$featblas" draw small.csv -o no.svg --kind patern
refuses 1 'too large to draw as a graph' "$featblas" draw large.tsv -o no.svg --kind graph
refuses 2 "unknown weight 'jacard'; did you mean 'jaccard'?" "$featblas" draw missing.mtx -o no.svg --kind projection --weight jacard
refuses 2 '--weight means nothing to this --kind; it goes with projection' "$featblas" draw missing.mtx -o no.svg --weight jaccard
refuses 2 '--onto means nothing to this --kind; it goes with projection' "$featblas" draw missing.mtx -o no.svg --kind graph --onto cols
refuses 3 'missing.mtx' "$featblas" draw missing.mtx -o no.svg
refuses 2 "did you mean 'rmat'" "$featblas" gen rmatt
refuses 2 'means nothing to gen rmat' "$featblas" gen rmat --rows 5
refuses 2 'do not fit 3 x 3' "$featblas" gen bipartite --rows 3 --cols 3 --edges 10
refuses 4 'takes about' "$featblas" gen rmat --scale 20 --memory-limit 10M
refuses 4 'takes about' "$featblas" gen reddit-like --memory-limit 100M
refuses 2 'exponent 1.5; expected 0 to 1' "$featblas" gen chung-lu --exponent 1.5
refuses 2 'means nothing to gen road-like' "$featblas" gen road-like --permute
"$featblas" gen road-like --vertices 100 -q | "$featblas" info - > info.txt
grep -q '100 x 100' info.txt || fail "info of a road: $(cat info.txt)"
refuses 5 'nowhere' "$featblas" gen rmat --scale 3 -q -o nowhere/no.mtx

"$featblas" demo pictures > demo.txt
for file in women.svg pattern.svg karate.svg; do is_svg pictures/$file; done
for file in women.png events.png pattern.png ratings.png; do is_png pictures/$file; done
grep -q 'Evelyn - Theresa  *7  *0.778  *1.487  *0.875' demo.txt || fail "demo: $(cat demo.txt)"
grep -q '^ *100  *\(2[6-9]\|30\) of 30' demo.txt || fail "demo, karate club: $(cat demo.txt)"
"$featblas" project pictures/women.csv --onto rows --weight jaccard --top-k 1 -q -o top.tsv
grep -q 'Olivia' top.tsv || fail "the demo's data: $(cat top.tsv)"
