# Helpers of the command's tests, sourced by tests/test_cli_*.sh. POSIX sh.
set -u
: "${FEATBLAS_COMMAND:?the command to test}"
folder=$(mktemp -d) || exit 1
failures=0
trap 'rm -rf "$folder"; [ $failures -eq 0 ] || exit 1' EXIT # also of a test that forgets to finish
cd "$folder" || exit 1
unset TMPDIR
tab=$(printf '\t')

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# run CODE ARGUMENT...: runs the command, expects the exit code; leaves `out` and `err`.
run() {
    expected=$1
    shift
    case=$*
    "$FEATBLAS_COMMAND" "$@" >out 2>err
    code=$?
    [ $code -eq "$expected" ] || fail "featblas $case: exit code $code instead of $expected: $(cat err)"
}

# says TEXT: the last run's messages contain it.
says() {
    grep -qF -- "$1" err || fail "featblas $case: no '$1' in: $(cat err)"
}

# silent: the last run said nothing.
silent() {
    [ ! -s err ] || fail "featblas $case: said $(cat err)"
}

# prints: the last run printed standard input, in any order of lines.
prints() {
    sort >wanted
    sort out >got
    cmp -s wanted got || fail "featblas $case: printed$(printf '\n')$(cat out)$(printf '\n')instead of $(cat wanted)"
}

# holds FILE TEXT: the file contains the text.
holds() {
    grep -qF -- "$2" "$1" || fail "featblas $case: no '$2' in $1: $(cat "$1")"
}

# clean: no temporary files are left.
clean() {
    left=$(find . -name '*.tmp*')
    [ -z "$left" ] || fail "featblas $case: left $left"
}

finish() {
    [ $failures -eq 0 ] || {
        echo "$failures failures"
        exit 1
    }
    exit 0
}
