#!/usr/bin/env bash
# featblas plan: what it prints for this machine and for one in a file, and what it refuses.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
featblas=$FEATBLAS_COMMAND

fail() {
    echo "test_cli_plan: $*" >&2
    exit 1
}
# refuses CODE TEXT COMMAND...: exit code and message
refuses() {
    local code=$1 text=$2 got=0
    shift 2
    "$@" > out.txt 2> err.txt || got=$?
    [ "$got" = "$code" ] || fail "$*: exit code $got, expected $code: $(cat err.txt)"
    grep -qF -- "$text" err.txt || fail "$*: '$text' is not in: $(cat err.txt)"
}
# has TEXT: the last plan says so
has() { grep -qF -- "$1" plan.txt || fail "'$1' is not in the plan: $(cat plan.txt)"; }

"$featblas" gen chung-lu --vertices 3000 --edge-factor 60 --permute -q -o g.csr
plan() { "$featblas" plan --graph g.csr "$@" > plan.txt || fail "plan $*"; }

"$featblas" plan --describe > here.txt
grep -q '^l2 = [0-9]' here.txt || fail "description: $(cat here.txt)"
grep -q '^l2_rate = [0-9]' here.txt || fail "description: $(cat here.txt)"
printf 'cores = 8 # small caches\nl1 = 16K\nl2 = 128K\nl3 = 1M\nmemory = 8G\nl2_rate = 50\n' > small.txt
"$featblas" plan --describe --machine small.txt > again.txt
grep -q '^l2 = 131072$' again.txt || fail "description of a file: $(cat again.txt)"

refuses 2 '--calibrate wants --wisdom FILE' "$featblas" plan --calibrate
plan --op spmm --dim 128
has '3000 x 128'
has 'GB/s from L2'
plan --op spmm --dim 128 --machine small.txt
has '8 cores, L1 16 KiB, L2 128 KiB'
has 'on 8 threads'
plan --op spmm --dim 128 --machine small.txt --threads 3
has 'on 3 threads'
plan --op spmm --dim 128 --heads 8 --semiring 'max : src + dst' --threads 1
has 'kernel best'
plan --op spmm --dim 128 --set kernel=direct,tile=16
has 'direct 1.00 <- chosen'
for op in sddmm attention; do
    plan --op $op --dim 128 --heads 8 --machine small.txt
    has '8 cores'
    has 'predicted'
    plan --op $op --dim 128 --heads 8 --set segment=500,tile=1
    has '6 segments of 500 sources'
    has 'asked for'
done
for op in spmm sddmm attention; do
    plan --op $op --dim 64 --heads 4 --measure
    has '<- measured'
    has 'measured   '
done
for op in spmm sddmm attention; do
    plan --op $op --dim 64 --heads 4 --wisdom my.wisdom
    grep -q 'from wisdom' plan.txt && fail "wisdom of nothing: $(cat plan.txt)"
    plan --op $op --dim 64 --heads 4 --measure --wisdom my.wisdom
    has '<- measured'
    plan --op $op --dim 64 --heads 4 --wisdom my.wisdom
    has '<- measured, from wisdom'
    plan --op $op --dim 32 --heads 4 --wisdom my.wisdom
    grep -q 'from wisdom' plan.txt && fail "wisdom of another case: $(cat plan.txt)"
done
grep -q '^end 3$' my.wisdom || fail "wisdom: $(cat my.wisdom)"
plan --op attention --dim 64 --heads 4 --set kernel=staged
has '<- asked for'
has 'one after the other'
plan --op attention --dim 64 --heads 4 --set kernel=fused
has 'fused 1.00  <- asked for'
plan --op sddmm --dim 128 --semiring 'plus : tanh(src - dst)'
has 'kernel program'

refuses 2 '--op is missing' "$featblas" plan --graph g.csr --dim 8
refuses 2 '--graph is missing' "$featblas" plan --op spmm --dim 8
refuses 2 '--dim is missing' "$featblas" plan --op spmm --graph g.csr
refuses 2 'does not divide' "$featblas" plan --op spmm --graph g.csr --dim 10 --heads 3
refuses 2 'is not KEY=VALUE' "$featblas" plan --op spmm --graph g.csr --dim 8 --set tile
refuses 2 '--set: ' "$featblas" plan --op spmm --graph g.csr --dim 8 --set speed=9
refuses 3 'nowhere' "$featblas" plan --op spmm --graph nowhere.csr --dim 8
refuses 3 'nowhere' "$featblas" plan --op spmm --graph g.csr --dim 8 --machine nowhere.txt
printf 'cores = 2\nl4 = 5\n' > wrong.txt
refuses 3 'wrong.txt:2: unknown name' "$featblas" plan --op spmm --graph g.csr --dim 8 --machine wrong.txt
refuses 2 'another machine' "$featblas" plan --op spmm --graph g.csr --dim 8 --wisdom my.wisdom --machine small.txt
sed -i 's/ cores=/ cores=1/' my.wisdom
refuses 3 'my.wisdom:2:1: measured on another machine' "$featblas" plan --op spmm --graph g.csr --dim 8 --wisdom my.wisdom
echo hello > my.wisdom
refuses 3 'my.wisdom:1:1: expected featblas-wisdom 1' "$featblas" plan --op spmm --graph g.csr --dim 8 --wisdom my.wisdom
refuses 2 'expected features of a tile' "$featblas" plan --op sddmm --graph g.csr --dim 8 --set tile=0

# A pipeline in hardware: one edge a cycle from each of eight streams, apply over all vertices.
cp "${FEATBLAS_SOURCE_DIR:?}/examples/graphicionado.json" m.json
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 2\n1 3\n2 3\n3 1\n' > small.mtx
run() { "$featblas" plan --machine m.json --run "$@" > plan.txt || fail "run $*"; }
run bfs --source 1 small.mtx -v
has 'bfs of small.mtx, 3 vertices, on Graphicionado: 8 streams at 1 GHz'
has '1                    1              2            204'
has '4 in 2 supersteps of 1 slices'
has '<- binds'
run pagerank --rounds 3 small.mtx
has '12 in 3 supersteps of 1 slices'
run pagerank small.mtx
run sssp small.mtx
has 'S5 control atomic update'
printf '1 7 3.5\n2 7 1\n' > ratings.tsv
run cf ratings.tsv
has 'cf of ratings.tsv, 3 vertices'
has '4 in 1 supersteps'
refuses 2 "unknown program 'pagerang'; did you mean 'pagerank'?" "$featblas" plan --machine m.json --run pagerang small.mtx
refuses 2 '--run wants --machine FILE' "$featblas" plan --run bfs small.mtx
refuses 2 '--run wants a graph' "$featblas" plan --run bfs --machine m.json
refuses 2 '--dim means nothing beside --run' "$featblas" plan --run bfs --machine m.json --dim 3 small.mtx
refuses 2 '--source means nothing to pagerank' "$featblas" plan --run pagerank --machine m.json --source 3 small.mtx
refuses 2 '--rounds means nothing to sssp' "$featblas" plan --run sssp --machine m.json --rounds 3 small.mtx
refuses 2 '--rounds means nothing without --run' "$featblas" plan --op spmm --graph g.csr --dim 8 --rounds 3
refuses 2 "'g.csr': --graph names the graph" "$featblas" plan --op spmm --dim 8 g.csr
refuses 3 '--source: vertex 9; expected 1 to 3' "$featblas" plan --run bfs --machine m.json --source 9 small.mtx
refuses 3 'expected a square matrix' "$featblas" plan --run bfs --machine m.json ratings.tsv
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1\n2 3 -2\n3 2 1\n' > cycle.mtx
refuses 3 'cycle.mtx: still changes after 3 supersteps' "$featblas" plan -v --run sssp --machine m.json --source 1 cycle.mtx
[ ! -s out.txt ] || fail "a heading of what failed: $(cat out.txt)"
refuses 3 'nowhere.json' "$featblas" plan --run bfs --machine nowhere.json small.mtx
sed 's/"streams": 8/"streams": 0/' m.json > bad.json
refuses 3 'bad.json: streams: expected a whole number from 1 to 4096' "$featblas" plan --run bfs --machine bad.json small.mtx
