# Wrong usage, help, manual pages and completion of the command.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

run 0 --version
holds out "featblas "
run 0 version
run 0 --help
holds out "project"
cp out overview
for words in 'help' 'help --help' 'help -h' 'help help' 'help version'; do
    # shellcheck disable=SC2086
    run 0 $words
    cmp -s out overview || fail "featblas $words does not print the overview"
done
run 2
says "usage: featblas"
run 2 projet
says "unknown command 'projet'; did you mean 'project'?"
run 2 --frobnicate
says "unknown option '--frobnicate'"

# Options
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n1 2\n' >g.mtx
run 2 project
says "project needs INPUT|-"
run 2 project g.mtx other.mtx
says "unexpected operand 'other.mtx'"
run 2 project g.mtx -o ''
says "--output: the name is empty"
printf 'u,m\n1,2\n' >one.csv
run 2 project one.csv --columns u,x
says "unknown column 'x' (the first line"
run 0 project one.csv --self-loops -o /dev/null --format tsv
says "1 x 1, 1 entry onto 1 columns: 1 product"
says "/dev/null: 1 pair, "
for command in $("$FEATBLAS_COMMAND" help --commands); do
    run 0 help "$command"
    [ "$(tail -c 1 out | wc -l)" -eq 1 ] || fail "help $command ends within a line"
done
run 2 info --devices g.mtx
says "--devices reads no file; unexpected operand 'g.mtx'"
run 2 info
says "info needs FILE|-"
run 0 info g.mtx --device cpu
run 2 info g.mtx --device cpus
says "--device: there is no 'cpus' here; expected cpu"
run 2 project g.mtx --topk 3
says "unknown option '--topk'; did you mean '--top-k'?"
run 2 project g.mtx -Z
says "unknown option '-Z'"
run 2 project g.mtx --top-k
says "--top-k needs an argument: K"
run 2 project g.mtx -k
says "-k needs an argument: K"
run 2 project g.mtx --top-k=0
says "--top-k: 0 is too small"
run 2 project g.mtx -k3x
says "'3x' is not a whole number"
run 2 project g.mtx --precision 18
says "--precision: 18 is outside 0..17"
run 2 project g.mtx --top-k 99999999999999999999
says "too large"
run 2 project g.mtx --min-weight heavy
says "--min-weight: 'heavy' is not a number"
run 2 project g.mtx --min-weight nan
says "is not a number"
run 2 project g.mtx --duplicates som
says "unknown value of --duplicates 'som'; did you mean 'sum'?"
run 2 project g.mtx --triangle=yes
says "--triangle takes no argument"
run 2 project g.mtx --weight jacard
says "unknown weight 'jacard'; did you mean 'jaccard'? (featblas project --help-weights lists them)"
run 2 project g.mtx --weight jaccard --semiring 'plus : 1'
says "exclude each other"
run 2 project g.mtx --delimiter tabb
says "unknown delimiter 'tabb'; did you mean 'tab'?"
run 2 project g.mtx --onto colz
says "unknown side 'colz'; did you mean 'cols'?"
run 2 project - --onto movieId </dev/null
says "only with --columns"
run 2 project g.mtx --stats text -o -
says "standard output"
run 2 project g.mtx --semiring 'plus : a +'
says "column"
run 2 project g.mtx --semiring 'plus : bb'
says "unknown name 'bb'"
run 2 project g.mtx --epilogue 'hh'
says "unknown name 'hh'"
run 2 project g.mtx --where 'ww > 1'
says "unknown name 'ww'"
for size in 2X 0 -1G 101% 1.2.3 G ''; do
    run 2 project g.mtx --memory-limit "$size"
    says "--memory-limit"
done
for size in 64M 64MB 64MiB 1.5g 100000K 90% 99999999; do
    run 0 project g.mtx --memory-limit "$size"
done
run 2 project g.mtx --tmpdir nowhere
says "--tmpdir"

# -- ends the options, -qv is -q -v, the last of repeated options wins, options may follow operands
cp g.mtx ./-odd.mtx
run 0 project -qo out.tsv -- -odd.mtx
silent
[ -f out.tsv ] || fail "no out.tsv"
run 0 project --top-k 5 g.mtx --top-k=1 -qv

# Help
for command in $("$FEATBLAS_COMMAND" help --commands); do
    run 0 "$command" --help
    holds out "usage: featblas $command"
    run 0 help "$command"
    run 0 help --man "$command"
    holds out ".TH FEATBLAS-"
    if command -v groff >/dev/null; then
        groff -man -ww -Tutf8 out >page 2>complaints
        [ ! -s complaints ] || fail "manual page of $command: $(cat complaints)"
    fi
done
run 0 help --man
holds out ".TH FEATBLAS 1"
run 2 help --man projet
says "did you mean 'project'?"
run 2 help --completion tcsh
says "unknown shell 'tcsh'"
run 0 project --help-weights
for weight in count jaccard newman pearson 'w1/(w1+w2)' weighted-jaccard; do
    holds out "  $weight "
done

# Every long option of the help is completed by all shells
"$FEATBLAS_COMMAND" project --help | grep -o -- '^  *\(-., \)\{0,1\}--[a-z-]*' | sed 's/.*--//' >options
for shell in bash zsh fish; do
    run 0 help --completion $shell
    while read -r option; do
        grep -q -e "--$option" -e "-l $option" out || fail "$shell does not complete --$option"
    done <options
    if command -v $shell >/dev/null; then
        $shell -n out || fail "$shell cannot read its completion"
    fi
done

finish
