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

finish
