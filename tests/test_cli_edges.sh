# What the command says of edge lists and adjacency lists: what was guessed, and which option says otherwise.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

printf 'user;item;n\nann;a;1\nann;b;2\nbob;b;1\n' >list.csv
run 0 project list.csv
says "list.csv: semicolons; a header; row 1, column 2, value 3"
run 0 project list.csv -q
silent
run 0 project - <list.csv
says "standard input: semicolons; a header"
run 0 info list.csv
holds out "fields           semicolons; a header; row 1, column 2, value 3"
silent
run 0 info list.csv --columns item,user --json
holds out '"delimiter": ";"'
holds out '"header": true'
holds out '"adjacency": false'
holds out '"row": 2'
holds out '"col": 1'
grep -q '"value"' out && fail "a value column: $(cat out)"
run 0 plan --op spmm --graph list.csv --dim 4
says "list.csv: semicolons"
printf '1;2;3\n2;2;4\n' >numbers.csv
run 0 info numbers.csv
holds out "2 x 1, 2 entries"
holds out "semicolons; no header; row 1, column 2, value 3"
run 0 info numbers.csv --header
holds out "1 x 1, 1 entries"
run 3 info list.csv --no-header
says "list.csv:1:11: the value 'n' is not a number; if the line names the columns, --header says so"
run 2 info list.csv --delimiter x
says "--delimiter is 'x'"
run 2 info list.csv --columns 1
says "--columns is '1'; expected two different columns"
run 2 info list.csv --no-header --columns user,item
says "--columns has names, but --header says that the first line has none"

# --onto NAME makes the first line a header
printf 'user,item\nann,a\nbob,a\n' >names.csv
run 0 project names.csv --onto user
prints <<END
ann${tab}bob${tab}1
bob${tab}ann${tab}1
END
run 2 project names.csv --onto user --no-header
says "unknown side 'user'"

# Adjacency lists
printf 'ann x y z\nbob y\ncarl z x\n' >lists.txt
run 3 project lists.txt
says "lists.txt:2:1: expected 4 fields between blanks, as in the first line, found 2; lists of a row and its columns are read with --adjacency"
run 0 project lists.txt --adjacency --triangle
says "lists.txt: lists of a row and its columns; blanks; no header"
prints <<END
x${tab}y${tab}1
x${tab}z${tab}2
y${tab}z${tab}1
END
run 0 project lists.txt --adjacency --triangle --onto rows -q
prints <<END
ann${tab}bob${tab}1
ann${tab}carl${tab}2
END
run 0 info lists.txt --adjacency
holds out "lists.txt, adjacency lists"
holds out "3 x 3, 6 entries"
run 2 info lists.txt --adjacency --columns 1,2
says "--adjacency and --columns exclude each other"
run 2 project lists.txt --adjacency --onto ann
says "unknown side 'ann'"
clean
finish
