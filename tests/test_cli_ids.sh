# Results of edge lists that are written as positions come with their ids.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

printf 'user,item\nann,"x, y"\nann,z\nbob,"x, y"\nbob,z\n7,z\n' >list.csv
for ending in npz csr mtx; do
    rm -f pairs.ids.csv
    run 0 project list.csv --onto user -o pairs.$ending
    says "pairs.ids.csv: the ids of its positions"
    [ $ending = mtx ] && base=1 || base=0
    printf 'position,id\n%d,ann\n%d,bob\n%d,7\n' $base $((base + 1)) $((base + 2)) | cmp -s - pairs.ids.csv ||
        fail "pairs.$ending: $(cat pairs.ids.csv)"
    run 0 info pairs.$ending
    holds out "3 x 3, 6 entries"
    run 0 project -q pairs.$ending --labels pairs.ids.csv:position,id --triangle -o again.tsv # they go together
    grep -q "^ann${tab}bob" again.tsv || fail "pairs.$ending with its ids: $(cat again.tsv)"
done
printf 'id,name\nz,Zed\n' >names.csv
run 0 project list.csv --header -q -o items.npz --labels names.csv:id,name
printf 'position,id\n0,"x, y"\n1,Zed\n' | cmp -s - items.ids.csv || fail "items.npz: $(cat items.ids.csv)"
printf 'ann x y z\nbob y z\n' >lists
run 0 project lists --adjacency -q -o lists.npz
printf 'position,id\n0,x\n1,y\n2,z\n' | cmp -s - lists.ids.csv || fail "lists.npz: $(cat lists.ids.csv)"

# Not where there are no ids, or nothing is beside the output
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n1 2\n' >g.mtx
run 0 project g.mtx -o g.npz
[ ! -e g.ids.csv ] || fail "g.npz has ids"
run 0 project list.csv -o list.tsv
[ ! -e list.ids.csv ] || fail "list.tsv has ids beside it"
run 0 project list.csv --format npz
says "standard output: has positions, whose ids are lost"
run 0 project list.csv -o /dev/null --format csr
says "/dev/null: has positions, whose ids are lost"

# One name for two files
cp list.csv r.ids.csv
run 2 project r.ids.csv -o ./r.npz
says "INPUT and the ids beside --output name the same file"
cmp -s list.csv r.ids.csv || fail "r.ids.csv was written"
cp list.csv s.ids.csv
run 2 project list.csv --labels names.csv:id,name --sources s.ids.csv -o s.mtx
says "--sources and the ids beside --output name the same file"

clean
finish
