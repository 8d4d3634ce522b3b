# Messages are one line of printable characters, in the command's words, whatever the data holds.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

# printable: the last run's messages, and what it printed, hold no control characters.
printable() {
    if LC_ALL=C tr -d '\n' <err | LC_ALL=C grep -q '[[:cntrl:]]' || LC_ALL=C tr -d '\n' <out | LC_ALL=C grep -q '[[:cntrl:]]'; then
        fail "featblas $case: control characters in $(cat -v err out)"
    fi
    [ "$(wc -l <err)" -le 3 ] || fail "featblas $case: several lines in $(cat err)"
}

# ---- control characters of file names, headers, ids, labels, options, and of 8-bit terminals
evil=$(printf '\033[31m\001\177\302\233m\tred')
mkdir "d$evil"
name="d$evil/f$evil.csv"
printf 'user%s,item,n\nann,a,1\nann,b%s,2\n' "$evil" "$evil" | tr -d '\t' >"$name"
printf 'no%s\nwhere\n' "$evil" >"ids$evil"
printf 'id,t%s\na,x\n' "$evil" >"labels$evil"
run 0 project "$name" --onto "user$(printf %s "$evil" | tr -d '\t')" -o /dev/null --format tsv
says '\x1b[31m\x01\x7f\xc2\x9bmred'
printable
run 2 project "$name" --onto "$evil"
printable
run 2 project "$name" --columns "$evil,item"
printable
run 2 project "$name" --weight "$evil"
printable
run 2 project "$name" --semiring "$evil"
printable
run 2 project "$name" --where "$evil"
printable
run 3 project "$name" --sources "ids$evil"
says '\x1b[31m'
printable
run 2 project "$name" --labels "labels$evil:id,$evil"
printable
run 3 project "$name" --labels "none$evil:1,2"
printable
run 2 project "$name" --delimiter "$evil"
printable
run 2 project "$name" "--$evil"
printable
run 2 project "$name" --format "$evil"
printable
run 2 project "$name" -o "$name"
printable
run 5 project "$name" -o "none$evil/x.tsv"
printable
run 3 info "none$evil"
printable
run 0 info "$name"
printable_lines=$(LC_ALL=C tr -d '\n' <out | LC_ALL=C grep -c '[[:cntrl:]]')
[ "$printable_lines" -eq 0 ] || fail "info: $(cat -v out)"
run 3 train "d$evil"
printable
run 2 train "d$evil" --model "$evil"
printable
run 2 gen "$evil"
printable
run 2 "$evil"
printable
printf '%%%%MatrixMarket matrix %s\n' "$evil" >"m$evil.mtx"
run 3 info "m$evil.mtx"
printable
printf 'a,b,1\na,c,%s\n' "$evil" >v.csv
run 3 info v.csv
printable
printf 'ünï,x\nünï,日本\n' >utf8.csv # what is no control character stays
run 2 project utf8.csv --header --onto 'ünï日本'
says "'ünï日本'"
printf '\377\200\n' >bytes
run 3 project utf8.csv --sources bytes
says "no vertex '\\xff\\x80'"

# ---- the peak is this process's, not that of the one that became it
printf '1,2\n' >one.csv
if [ -r /proc/self/status ]; then
    peak=$(bash -c 'x=$(head -c 250000000 /dev/zero | tr "\0" x); exec "$@"' - \
        "$FEATBLAS_COMMAND" project -q one.csv --stats json | sed -n 's/.*"peak_bytes": \([0-9]*\).*/\1/p')
    [ "${peak:-0}" -gt 100000 ] && [ "$peak" -lt 240000000 ] || fail "peak_bytes: '$peak'"
fi

# ---- in the command's words
printf 'a,b,1\na,c,2\n' >list.csv
run 2 project list.csv --semiring 'plus : bb'
says "--semiring: unknown name 'bb'"
run 2 project list.csv --semiring 'a + b'
says "--semiring: 'a + b' is not 'reducer : message'"
run 2 project list.csv --epilogue hh
says "--epilogue: unknown name 'hh'"
run 2 project list.csv --where 'ww > 1'
says "--where: unknown name 'ww' at column 1; known here: h, h0, i, j, di, dj, si, sj, qi, qj, nrows, ncols, w"
for name in h h0 i j di dj si sj qi qj nrows ncols w; do
    run 0 project list.csv --where "$name >= 0" -q
done
printf 'a;b\na\n' >short.csv
run 3 project short.csv
says "expected 2 fields between semicolons, as in the first line, found 1"
run 3 project list.csv --delimiter tab
says "expected at least 2 fields between tabs, found 1"
run 4 project list.csv --memory-limit 2K
says "memory limit: 2K are too few to read list.csv; for that "
grep -q ' [0-9]*[KMG] are enough$' err || fail "no size in $(cat err)"
run 0 info list.csv --memory-limit "$(sed 's/.*for that \([^ ]*\) are.*/\1/' err)"
printf '\377\376a\000,\000b\000\n\000' >utf16.csv
printf 'a\000,\000b\000\n\000' >bare16.csv
for file in utf16.csv bare16.csv; do
    run 3 info $file
    says "$file: is UTF-16; expected UTF-8"
    run 3 project list.csv --sources $file
    says "$file: is UTF-16"
    run 3 project list.csv --labels $file:a,b
    says "$file: is UTF-16"
done

# ---- labels
printf 'b|Bea\nx|Xenia\n' >bars
printf 'b,Bea\nc,Cid\n' >plain.csv
run 0 project -q list.csv --labels bars:1,2 --labels-delimiter '|' --triangle
holds out "Bea${tab}c"
run 0 project -q list.csv --labels plain.csv:1,2 --triangle # a file without a header loses no line
holds out "Bea${tab}Cid"
run 3 project list.csv --labels bars:1,2
says "--labels: no id of bars is one of the columns, such as 'b'"
run 2 project list.csv --labels plain.csv:0,1
says "--labels: columns count from 1"
run 2 project list.csv --labels plain.csv:1,2 --stats text
says "--labels: statistics have none"
run 2 project list.csv --labels plain.csv:1,2 --format npz
says "--labels: this format has positions"
run 2 project list.csv --labels bars:1,2 --labels-delimiter bar
says "unknown delimiter 'bar'"

finish
