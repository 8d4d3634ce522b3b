# featblas run: the library's programs and one's own, their files, and what is refused.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

# 1 -> 2 -> 3 -> 1, 3 -> 4, 6 -> 5; vertex 7 alone.
printf '%%%%MatrixMarket matrix coordinate real general\n7 7 5\n1 2 1\n2 3 2\n3 1 4\n3 4 0.5\n6 5 1\n' >g.mtx

run 0 run sssp g.mtx --sources 1,6 -o d.tsv
holds out "1 supersteps in"
[ "$(tr '\t\n' ' ,' <d.tsv)" = "1 0 inf,2 1 inf,3 3 inf,4 3.5 inf,5 inf 1,6 inf 0,7 inf inf," ] || fail "sssp: $(cat d.tsv)"
printf '1\n6\n' >sources.txt
run 0 run sssp g.mtx --sources sources.txt --threads 3 -o again.tsv
cmp -s d.tsv again.tsv || fail "sources of a file give others: $(cat again.tsv)"
run 0 run components g.mtx -o c.npy
run 0 run sssp g.mtx --sources c.npy -o npy.tsv # 0 0 0 0 4 4 6, as .npy numbers them, from 0
run 0 run sssp g.mtx --sources 1,1,1,1,5,5,7 -o numbers.tsv
cmp -s npy.tsv numbers.tsv || fail "sources of .npy give others: $(cat npy.tsv)"
run 0 run bfs g.mtx --sources 1 -o b.csv
[ "$(tr '\n' ' ' <b.csv)" = "1,0,1 2,1,1 3,2,2 4,3,3 5,-1,-1 6,-1,-1 7,-1,-1 " ] || fail "bfs: $(cat b.csv)"
run 0 run components g.mtx -o -
[ "$(cut -f2 out | tr '\n' ' ')" = "1 1 1 1 5 5 7 " ] || fail "components: $(cat out)"
run 0 run pagerank g.mtx --definition networkx --tolerance 1e-12 --rounds 1000 -o r.tsv
awk '{ sum += $2 } END { exit !(sum > 0.999999 && sum < 1.000001) }' r.tsv || fail "ranks: $(cat r.tsv)"
run 0 run pagerank g.mtx --definition ldbc --rounds 60 -o l.tsv
holds out "60 supersteps in"
awk '{ sum += $2; r[$1] = $2 } END { exit !(sum > 0.999999 && sum < 1.000001 && r[1] == r[4] && r[6] == r[7]) }' l.tsv ||
    fail "ldbc's does not look at values: $(cat l.tsv)"
run 0 run pagerank g.mtx --definition networkx --tolerance 1e-12 --rounds 1000 --sources 6,1 -o p.tsv
awk '{ sum += $2; other += $3; r[$1] = $2 } END { exit !(sum > 0.999999 && sum < 1.000001 && other > 0.999999 &&
    r[5] < 0.85 * r[6] + 1e-9 && r[5] > 0.85 * r[6] - 1e-9 && r[1] < 1e-9 && r[7] < 1e-9) }' p.tsv || fail "of 6 and 1: $(cat p.tsv)"
run 3 run pagerank g.mtx --sources 8
says "--sources: vertex 8; expected 1 to 7"
run 0 run pagerank g.mtx --definition networkx --tolerance 1e-12 --rounds 1000 -o r.npy
printf '%%%%MatrixMarket matrix coordinate real general\n7 7 6\n1 2 1\n2 3 2\n3 1 4\n3 4 0.5\n6 5 1\n5 7 2\n' >h.mtx
run 0 run pagerank h.mtx --definition networkx --tolerance 1e-12 --rounds 1000 -o anew.tsv
run 0 run pagerank h.mtx --definition networkx --tolerance 1e-12 --method changes --from r.npy -o again.tsv
awk 'NR == FNR { r[$1] = $2; next } { d = r[$1] - $2; off += d > 0 ? d : -d } END { exit !(NR == 14 && off < 1e-9) }' anew.tsv again.tsv ||
    fail "after a change: $(cat again.tsv), anew: $(cat anew.tsv)"
run 0 run pagerank h.mtx --definition networkx --tolerance 1e-12 --rounds 1000 --method sweeps --explain -o swept.tsv
holds out "sweeps in"
holds out "changed"
awk 'NR == FNR { r[$1] = $2; next } { d = r[$1] - $2; off += d > 0 ? d : -d } END { exit !(NR == 14 && off < 1e-9) }' anew.tsv swept.tsv ||
    fail "by sweeps: $(cat swept.tsv), by rounds: $(cat anew.tsv)"
run 3 run pagerank h.mtx --from r.tsv
says "--from: r.tsv is 7 x 2; expected 7 x 1, without the vertices' numbers"
printf '%%%%MatrixMarket matrix array real general\n7 1\n1\n1\n1\nnan\n1\n1\n1\n' >nan.mtx
run 3 run pagerank h.mtx --from nan.mtx
says "--from: nan.mtx: the rank of vertex 4 is nan; expected a finite number"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n3 1 nan\n' >holes.mtx
run 3 run pagerank holes.mtx --definition networkx
says "holes.mtx: the entry of 3 and 1 is nan; expected a finite number"
cp h.mtx options.mtx
run 4 run pagerank options.mtx --memory-limit 100
holds err "options.mtx"
echo 1 >from.txt
"$FEATBLAS_COMMAND" run bfs --sources - h.mtx -o levels.tsv <from.txt 2>err || fail "sources from standard input: $(cat err)"
run 2 run pagerank h.mtx --definition ldbc --from r.npy
says "--from: the ranks of ldbc begin as all alike"
# However large the ranks are that are begun with, and whatever their signs.
printf '%%%%MatrixMarket matrix array real general\n7 1\n1e300\n-1e300\n1e200\n5\n1e-300\n0\n-1e290\n' >far.mtx
for method in rounds changes sweeps; do
    run 0 run pagerank h.mtx --definition networkx --tolerance 1e-12 --rounds 1000 --method $method --from far.mtx -o again.tsv
    awk 'NR == FNR { r[$1] = $2; next } { d = r[$1] - $2; off += d > 0 ? d : -d } END { exit !(NR == 14 && off < 1e-9) }' anew.tsv again.tsv ||
        fail "$method from far: $(cat again.tsv), anew: $(cat anew.tsv)"
done
run 2 run pagerank h.mtx --definition ldbc --method changes
says "--method: the ranks of ldbc are those of rounds"
run 0 run pagerank g.mtx --damping 0.5 --explain -o r.npy
holds out "superstep"
holds out "all"
[ "$(head -c 6 r.npy | tail -c 5)" = NUMPY ] || fail "no npy"

# One's own text is the same as the program of the same meaning.
run 0 run --send dist --combine 'min : message + edge' --apply 'dist = min(dist, received)' \
    --init 'dist = id == 0 ? 0 : inf' g.mtx -o own.tsv
run 0 run sssp g.mtx --sources 1 -o named.tsv
cmp -s own.tsv named.tsv || fail "a text of one's own: $(cat own.tsv)"
# By priority, all at once or, with a field that nobody needs, superstep by superstep.
run 0 run --send dist --combine 'min : message + edge' --apply 'dist = min(dist, received)' --priority dist \
    --delta 0.5 --init 'dist = id == 0 ? 0 : inf' g.mtx -o own.tsv
cmp -s own.tsv named.tsv || fail "by priority: $(cat own.tsv)"
run 0 run --send dist --combine 'min : message + edge' --apply 'dist = min(dist, received)' --priority dist \
    --delta 0.5 --active changed --init 'dist = id == 0 ? 0 : inf' --sources 1 g.mtx -o own.tsv
holds out "4 supersteps in"
cmp -s own.tsv named.tsv || fail "by buckets: $(cat own.tsv)"
run 0 run --send x --combine 'plus : message' --apply 'y = old.x; x = received;' --init 'x = id; y = 0 * x + 1' \
    --direction in --until 'sum(new.x) > 1e9' --rounds 2 --sources 2 g.mtx -o two.tsv
[ "$(tr '\t\n' ' ,' <two.tsv)" = "1 0 1,2 0 0,3 1 0,4 0 0,5 0 0,6 0 0,7 0 0," ] || fail "two fields: $(cat two.tsv)"

# A graph's shape: two triangles that share an edge, and a tail; of one direction, which has an order.
printf '%%%%MatrixMarket matrix coordinate pattern general\n5 5 6\n1 2\n1 3\n2 3\n2 4\n3 4\n4 5\n' >t.mtx
run 0 run triangles t.mtx -o t.tsv
holds out "2 triangles in"
[ "$(tr '\t\n' ' ,' <t.tsv)" = "1 1,2 2,3 2,4 1,5 0," ] || fail "triangles: $(cat t.tsv)"
run 0 run clustering t.mtx -o -
[ "$(tr '\t\n' ' ,' <out)" = "1 0.5,2 0.3333333333333333,3 0.3333333333333333,4 0.16666666666666666,5 0," ] || fail "clustering: $(cat out)"
run 0 run clustering --undirected t.mtx -o -
[ "$(tr '\t\n' ' ,' <out)" = "1 1,2 0.6666666666666666,3 0.6666666666666666,4 0.3333333333333333,5 0," ] || fail "undirected: $(cat out)"
run 0 run betweenness t.mtx -o b.tsv
holds out "5 sources in"
[ "$(tr '\t\n' ' ,' <b.tsv)" = "1 0,2 1,3 1,4 3,5 0," ] || fail "betweenness: $(cat b.tsv)"
run 0 run betweenness t.mtx --sources 1,2 --normalized -o -
[ "$(tr '\t\n' ' ,' <out)" = "1 0,2 0.3333333333333333,3 0.16666666666666666,4 0.3333333333333333,5 0," ] || fail "from 1 and 2: $(cat out)"
cp out once.tsv
run 0 run betweenness t.mtx --sources 1,2,1,1 --normalized -o -
cmp -s out once.tsv || fail "a source that is there again: $(cat out)"
run 0 run betweenness t.mtx --sources 1,2,1
holds out "2 sources in"
run 0 run betweenness t.mtx --samples 5 -o all.tsv
cmp -s all.tsv b.tsv || fail "all sources, drawn: $(cat all.tsv)"
run 0 run betweenness t.mtx --samples 2 --seed 7 -o -
run 0 run communities t.mtx --rounds 2 -o -
[ "$(tr '\t\n' ' ,' <out)" = "1 1,2 2,3 2,4 1,5 2," ] || fail "communities: $(cat out)"
run 0 run communities t.mtx --explain
holds out "round"
run 0 run topological t.mtx -o -
[ "$(tr '\t\n' ' ,' <out)" = "1 0,2 1,3 2,4 3,5 4," ] || fail "topological: $(cat out)"
run 0 run topological t.mtx
holds out "5 levels in"
run 3 run topological g.mtx
says "g.mtx: the cycle 1 -> 2 -> 3 -> 1 has no order"
run 2 run betweenness t.mtx --sources 1 --samples 2
says "--samples: --sources says which they are"
run 2 run betweenness t.mtx --seed 2
says "--seed: there are no --samples to draw"
run 2 run topological t.mtx --rounds 3
says "--rounds means nothing to topological"
run 2 run triangles t.mtx --explain
says "--explain means nothing to triangles"
for option in "samples 3" "undirected" "normalized"; do
    run 2 run bfs g.mtx --sources 1 --$option
    says "--${option% *} means nothing to bfs"
done

for list in , 1,,2 1, 99999999999999999999; do # before the graph is read, which is not there
    run 2 run bfs none.mtx --sources "$list"
    says "--sources: '$list' is no list of numbers such as 7,12"
done
for list in 1.5 -1; do
    run 2 run bfs none.mtx --sources "$list"
    says "--sources: '$list' is no list of numbers such as 7,12, and no file"
done
printf 'vertex\n' >head.txt
run 3 run bfs g.mtx --sources head.txt
says "head.txt: has no numbers"
run 2 run betweenness t.mtx --samples 6
says "--samples: 6 sources of 5 vertices"
run 2 run pagerank g.mtx --damping 1 --method sweeps
says "--damping: ranks of 1 are those of --method rounds"
run 2 run pagerank g.mtx --tolerance inf
says "--tolerance: inf; expected more than 0"
run 2 run g.mtx
says "expected the name of a program and a graph"
printf '1\n' >s.txt
run 2 run bfs g.mtx --sources s.txt -o s.txt
says "--sources and --output name the same file, s.txt"
run 1 run pagerank g.mtx --rounds 1 -o early.npy
says "ranks still changed by more than 0.0001 after 1 rounds; --rounds allows more"
run 2 run bsf g.mtx
says "unknown program 'bsf'; did you mean 'bfs'?"
run 2 run bfs g.mtx
says "--sources is missing"
run 2 run components g.mtx --sources 1
says "--sources means nothing to components"
for option in "damping 0.5" "tolerance 1" "definition gap" "method changes" "from g.mtx" "until true" "active true" "priority id" "delta 1" "direction out"; do
    run 2 run bfs g.mtx --sources 1 --$option
    says "--${option% *} means nothing to bfs"
done
run 2 run --send x --combine 'min : message' --apply 'x = 1' --init 'x = 1' --damping 0.5 g.mtx
says "--damping means nothing to a program of your own"
run 2 run pagerank g.mtx --damping 0
says "--damping: 0; expected more than 0, and 1 at most"
for option in "priority x" "delta 1"; do
    run 2 run --send x --combine 'min : message' --apply 'x = 1' --init 'x = 1' --$option g.mtx
    says "is missing: priorities have buckets of some width"
done
run 2 run --send x --combine 'min : message' --apply 'x = 1' --init 'x = 1' --priority x --delta -1 g.mtx
says "--delta: -1; expected more than 0"
run 2 run --send x --combine 'min : message' --apply 'x = 1' --init 'x = 1' --priority y --delta 1 g.mtx
says "priority: unknown name 'y' at column 1; known here: x, id"
run 2 run pagerank g.mtx --method als
says "--method: of pagerank it is rounds, changes or sweeps"
run 2 run pagerank g.mtx --tolerance 0
says "--tolerance: 0; expected more than 0"
run 2 run pagerank g.mtx --definition ldbc --tolerance 1e-3
says "--tolerance: the ranks of ldbc end after --rounds"
run 2 run --send x g.mtx
says "--combine is missing"
run 2 run sssp --send x --combine 'min : message' --apply 'x = 1' --init 'x = 1' g.mtx
says "a program has a name, or texts of your own"
run 2 run --send x --combine 'min : message' --apply 'x = 1' --init 'x = wide' g.mtx
says "--init: unknown name 'wide' at column 5"
run 2 run --send x --combine 'min : message +' --apply 'x = 1' --init 'x = 1' g.mtx
says "at column 16, where the text ends"
run 2 run --send x --combine 'min : message' --apply 'x = 1' --init ';' g.mtx
says "--init: expected FIELD = text"
run 2 run --send x --combine 'min : message' --apply 'x = 1' --init 'x = 1; xx = 2' g.mtx
says "--init: 'xx' is in none of the other texts"
run 2 run --send x --combine 'min : message' --apply 'x = 1' --init 'id = 1; x = 1' g.mtx
says "--init: 'id' is"
run 2 run --send x --combine 'min : message' --apply 'y = 1' --init 'x = 1' g.mtx
says "--init: there is no 'y', which --apply changes"
run 2 run --send id --combine 'plus : message' --apply 'x = received' --init 'x = 1' --active true g.mtx
says "neither --until nor --rounds"
run 3 run sssp g.mtx --sources 8
says "--sources: vertex 8; expected 1 to 7"
printf -- '-9223372036854775808\n' >sources.txt
run 3 run sssp g.mtx --sources sources.txt
says "--sources: vertex -9223372036854775808; expected 1 to 7"
run 3 run sssp g.mtx --sources nowhere
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1\n2 3 -2\n3 2 1\n' >n.mtx
run 3 run sssp n.mtx --sources 1
says "n.mtx: the cycle 2 -> 3 -> 2 is of negative length, and is reached from source 1"
run 2 run bfs g.mtx --sources 1 -o g.mtx
run 5 run bfs g.mtx --sources 1 -o none/here.tsv

# Statistics: of supersteps where there are some; outputs in every format; limits.
run 0 run bfs g.mtx --sources 1 --stats text -o b.mtx
holds out "input            7 vertices, 5 entries"
holds out "program          bfs"
holds out "supersteps       4"
holds out "frontier         at most 1 vertices, 4 in all"
holds out "edges            at most 2 of a frontier, 4 in all"
holds out "result           7 x 2 int64, 112 bytes"
[ "$(sed -n 2,4p b.mtx | tr '\n' ' ')" = "7 2 0 1 " ] || fail "an array of levels and parents: $(cat b.mtx)"
run 0 run triangles t.mtx --stats text
holds out "triangles        2"
run 0 run --send dist --combine 'min : message + 1' --apply 'dist = min(dist, received)' \
    --init 'dist = id == 0 ? 0 : inf' --sources 1 --stats json --explain g.mtx -o own.npy
holds err "superstep"
python3 - out <<'PY' || fail "statistics as JSON: $(cat out)"
import json, sys
x = json.load(open(sys.argv[1]))
assert x["input"] == {"path": "g.mtx", "vertices": 7, "nvals": 5} and x["program"] == "own"
assert x["supersteps"] == 4 == len(x["steps"]) and [s["superstep"] for s in x["steps"]] == [1, 2, 3, 4]
assert [s["active"] for s in x["steps"]] == [1, 1, 1, 1] and [s["edges"] for s in x["steps"]] == [1, 1, 2, 0]
assert all(s["way"] and s["seconds"] >= 0 for s in x["steps"])
assert x["result"] == {"nrows": 7, "ncols": 1, "type": "fp64", "bytes": 56} and x["peak_bytes"] > 0
PY
run 2 run bfs g.mtx --sources 1 --stats text -o -
says "--stats prints on standard output too; write the result to a file"
run 2 run bfs g.mtx --sources 1 --stats text -o /dev/stdout
run 0 run bfs g.mtx --sources 1 -o -
cp out piped
run 0 run bfs g.mtx --sources 1 -o /dev/stdout
cmp -s out piped || fail "standard output by its name: $(cat out)"
run 2 run bfs g.mtx --sources 1 --stats xml
"$FEATBLAS_COMMAND" gen rmat --scale 12 -q -o big.csr
run 4 info big.csr --memory-limit 1K
enough=$(sed -n 's/.*for that \([0-9]*K\) are enough$/\1/p' err) # to read it
for words in "bfs big.csr --sources 0,1,2,3" "pagerank big.csr --method changes" "sssp big.csr --sources 0" "triangles big.csr" \
    "cf big.csr --factors 8 --rounds 1" "--init x=id;y=1 --send x --combine plus:message --apply x=received;y=old.x --rounds 2 big.csr"; do
    # shellcheck disable=SC2086
    run 4 run $words --threads 4 -q --memory-limit "$enough" -o none.tsv
    says "memory limit: $enough are too few; a limit that would do is "
    [ ! -e none.tsv ] || fail "a file of a run that did not fit"
    # shellcheck disable=SC2086
    run 0 run $words --threads 4 -q --memory-limit "$(sed -n 's/.*would do is //p' err)" -o fits.tsv
done
run 0 run bfs big.csr -q --sources 0,1,2,3 --memory-limit 50% -o some.npy
finish
