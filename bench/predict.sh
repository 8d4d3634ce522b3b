#!/usr/bin/env bash
# What plans of projections predict, beside what the work takes: a table for docs/plans.md.
#
#     bench/predict.sh [COMMAND]     # default: build/release/featblas; SEED=n draws other cases
#
# Ten cases are listed below, ten are drawn: a graph, a weight and options at random. Time is of the processor, on one
# thread and without output, so that others at work on the machine matter little: that of the whole command less that
# of --dry-run, which reads and plans only.
set -eu
command=${1:-build/release/featblas}
RANDOM=${SEED:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ratings=${FEATBLAS_DATA:?names the folder of the data}/ml-latest-small/ratings.csv
"$command" gen -q road-like --vertices 1000000 --seed 1 -o "$work/road.npz"
"$command" gen -q rmat --scale 15 --edges 400000 --seed 1 -o "$work/rmat.npz"
"$command" gen -q bipartite --rows 50000 --cols 20000 --edges 1000000 --seed 2 -o "$work/bipartite.npz"

input() { # NAME: the operand and options that read it
    case $1 in
    movies) echo "$ratings --columns userId,movieId,rating --onto movieId" ;;
    *) echo "$work/$1.npz" ;;
    esac
}

processor() { # COMMAND...: its seconds; what it prints to $work/out
    local TIMEFORMAT='%U %S'
    { time "$@" >"$work/out" 2>"$work/err"; } 2>&1 | awk '{ print $1 + $2 }'
}

figure() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" "$work/out" | head -1; }

row() { # GRAPH OPTION...
    local graph=$1 dry all entries seconds
    shift
    # shellcheck disable=SC2046 # the operand and its options are several words
    dry=$(processor "$command" project $(input "$graph") "$@" --threads 1 --dry-run --stats json)
    entries=$(figure entries_estimate)
    seconds=$(sed -n '/"plan"/,$p' "$work/out" | sed -n 's/.*"seconds": \([-0-9.e+]*\).*/\1/p')
    # shellcheck disable=SC2046
    all=$(processor "$command" project $(input "$graph") "$@" --threads 1 --stats json)
    awk -v graph="$graph" -v options="$*" -v p="$seconds" -v d="$dry" -v a="$all" -v e="$entries" \
        -v n="$(sed -n '/"result"/,$p' "$work/out" | sed -n 's/.*"nvals": \([0-9]*\).*/\1/p' | head -1)" \
        'BEGIN { t = a - d; printf "| %s | `%s` | %.3g | %d | %.2f | %.2f | %.2f |\n", graph, options, e, n, p, t, p / t }'
}

pick() { # VARIABLE WORD...: one of them; not in a subshell, which would draw for itself
    local -n to=$1
    shift
    shift $((RANDOM % $#))
    # shellcheck disable=SC2034 # a reference
    to=$1
}

drawn() {
    local options graph word
    pick graph movies road rmat bipartite
    pick word count dot cosine jaccard w1 w1/w2 newman adamic-adar probs dice tfidf-cosine bm25 weighted-jaccard \
        msd lift pmi llr hypergeometric
    options=(-w "$word")
    [ $((RANDOM % 2)) = 0 ] || options+=(--triangle)
    pick word 1 5 20 50
    [ $((RANDOM % 3)) != 0 ] || options+=(--top-k "$word")
    pick word 2 3 10
    [ $((RANDOM % 3)) != 0 ] || options+=(--min-degree "$word")
    pick word 'w > 1' 'di > dj' 'w > 0.1 && i < j'
    [ $((RANDOM % 4)) != 0 ] || options+=(--where "$word")
    row "$graph" "${options[@]}"
}

echo "| graph | options | entries, estimated | delivered | predicted s | took s | predicted / took |"
echo "|---|---|---|---|---|---|---|"
row movies -w count
row movies -w jaccard --top-k 20
row movies -w hypergeometric
row movies -w pearson
row movies -w llr --min-degree 10
row road -w count
row road -w jaccard --triangle
row rmat -w cosine --top-k 10
row rmat --semiring 'plus : i < j ? a : log(b + k)' --triangle
row bipartite -w msd --top-k 5
for _ in 1 2 3 4 5 6 7 8 9 10; do
    drawn
done
