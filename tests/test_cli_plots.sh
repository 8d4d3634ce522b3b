#!/usr/bin/env bash
# What pictures say: the texts of SVG files, with their places.
# shellcheck source=support/cli.sh
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1
# graphviz and fontconfig keep memory until the end; it is not ours to free.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 OMP_NUM_THREADS=1

# texts FILE: a line per text: x, y, anchor and the text, with tabs between.
texts() { sed -n 's/^<text x="\([^"]*\)" y="\([^"]*\)" font-size="[^"]*" text-anchor="\([a-z]*\)"[^>]*>\(.*\)<\/text>$/\1\t\2\t\3\t\4/p' "$1"; }
# labels FILE ANCHOR LOW HIGH: the texts with that anchor from y = LOW to HIGH.
labels() { texts "$1" | awk -F '\t' -v a="$2" -v low="$3" -v high="$4" '$3 == a && $2 + 0 >= low && $2 + 0 < high { print $4 }'; }
distinct() { # WHAT: no two lines of standard input are equal, and there are some
    sort > lines
    [ -s lines ] || fail "$1: no labels"
    [ -z "$(uniq -d lines)" ] || fail "$1: twice: $(uniq -d lines | tr '\n' ' ')"
}
whole() { # FILE: it is well-formed enough to end, and has texts
    [ "$(tail -n 1 "$1")" = '</svg>' ] || fail "$1 does not end with </svg>"
    [ "$(texts "$1" | wc -l)" -gt 0 ] || fail "$1 has no texts"
}

# ---- learning curves
run 0 gen csbm --vertices 200 --features 8 -q -o set
cp -r set narrow # one curve in each panel, so that they show little
sed -i 's/val\|test/none/' narrow/split.txt
for rate in 1e-9 1e-6 1e-3; do # losses that hardly change: ticks with many digits
    run 0 train narrow --epochs 20 --lr $rate --dropout 0 -q --plot curve.svg
    whole curve.svg
    distinct "losses at rate $rate" < <(labels curve.svg end 0 290)
    distinct "scores at rate $rate" < <(labels curve.svg end 290 520)
    distinct "epochs at rate $rate" < <(labels curve.svg middle 510 530)
done
run 0 train set --epochs 3000 --patience 0 --lr 0.1 --hidden 2 -q --plot long.svg
distinct "3,000 epochs" < <(labels long.svg middle 510 530)
run 0 train set --epochs 20 -q --plot curve.svg
# Legends stand right of the last epoch, where the plot ends.
right=$(texts curve.svg | awk -F '\t' '$3 == "middle" && $2 > 510 && $2 < 530 && $1 + 0 > most { most = $1 + 0 } END { print most }')
for name in 'training, with dropout' validation test; do
    texts curve.svg | awk -F '\t' -v r="$right" -v n="$name" '$4 == n { seen = 1; if ($1 + 0 <= r) bad = 1 } END { exit bad || !seen }' ||
        fail "the legend '$name' is not right of the plot, which ends at $right"
done
# The heading has the score that is printed, of one run and of several.
for runs in 1 3; do
    run 0 train set --epochs 15 --lr 0.05 --repeat $runs -q --plot runs.svg
    score=$(sed -n 's/^test  *accuracy \([0-9.]*\).*/\1/p' out)
    texts runs.svg | grep -qF "accuracy $score on the test vertices" || fail "$runs runs: no $score in $(texts runs.svg | sed -n 2p)"
done
texts runs.svg | grep -q 'all are means of 3 runs' || fail "the heading does not speak of 3 runs"

# ---- axes count as the input does
{ echo '%%MatrixMarket matrix coordinate real general' && echo '4 3 2' && echo '1 1 0.5' && echo '4 3 2'; } > m.mtx
printf 'n,m\n' > named.csv
for k in $(seq 200); do echo "$k,$((k % 150 + 1))" >> named.csv; done # beyond the room for names
run 0 draw m.mtx -o m.svg
[ "$(labels m.svg end 0 400 | tr '\n' ' ')" = '1 2 3 4 ' ] || fail "rows of m.mtx: $(labels m.svg end 0 400 | tr '\n' ' ')"
run 0 gen rmat --scale 7 -q -o z.npz
run 0 draw z.npz -o z.svg
texts z.svg | awk -F '\t' '$4 == "0" { n++ } END { exit n != 2 }' || fail "axes of an npz file do not begin at 0"
run 0 gen rmat --scale 7 -q -o z.mtx
run 0 draw z.mtx -o z.svg
texts z.svg | awk -F '\t' '$4 == "0" { bad = 1 } $4 == "20" { n++ } END { exit bad || n != 2 }' || fail "axes of a Matrix Market file count from 0"
run 0 draw named.csv -o n.svg
texts n.svg | awk -F '\t' '$4 == "0" { bad = 1 } $4 == "200" { n++ } END { exit bad || !n }' || fail "axes of whole ids count from 0"
sed 's/^/u/' named.csv > texts.csv
run 0 draw texts.csv -o t.svg
texts t.svg | grep -q 'positions from 0, no room for ids' || fail "positions are shown as if they were ids"
# ticks of values that differ little
printf '1,1,1000.001\n1,2,1000.002\n2,1,1000.003\n2,3,1000.004\n' > near.csv
run 0 draw near.csv --no-header -o near.svg
distinct "values of near.csv" < <(texts near.svg | awk -F '\t' '$1 > 100 && $3 == "start" && $4 ~ /^1,?000/ { print $4 }')
run 0 draw near.csv --no-header --kind graph -o graph.svg
distinct "weights of near.csv" < <(texts graph.svg | awk -F '\t' '$4 ~ /^1,?000/ { print $4 }')

# ---- names: all are there, or the heading counts those that are not
for k in $(seq 60); do for l in $(seq 59); do echo "a vertex of a long name $k,another vertex of a long name $l"; done; done > dense.csv
run 0 draw dense.csv --no-header --kind graph -o dense.svg
shown=$(texts dense.svg | grep -c 'vertex of a long')
left=$(texts dense.svg | sed -n 's/.*names left out: \([0-9]*\).*/\1/p')
[ "$((shown + ${left:-0}))" -eq 119 ] || fail "of 119 names $shown are shown and ${left:-none} said to be left out"
# Texts are escaped.
run 0 draw m.mtx --title 'a < b & "c" > d' -o escaped.svg
texts escaped.svg | grep -qF 'a &lt; b &amp; "c" &gt; d' || fail "the title is not escaped: $(texts escaped.svg | head -1)"
# Legends of degrees stand above the plot.
run 0 draw named.csv --kind degrees -o degrees.svg
texts degrees.svg | awk -F '\t' '/mean/ { n++; if ($2 > 110) bad = 1 } END { exit bad || !n }' || fail "the legend of degrees lies in the plot"
finish
