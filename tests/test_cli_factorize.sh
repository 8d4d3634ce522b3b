# featblas run cf: ratings from an edge list and from a matrix, factors with the ids of the file, what is held out, what
# is refused.
. "${FEATBLAS_SOURCE_DIR:?}/tests/support/cli.sh" || exit 1

# Users a to f, items p to t: half like p and q, half r and s; nobody's item is t but f's.
{
    printf 'user,item,stars\n'
    for user in a b c; do printf '%s,p,5\n%s,q,5\n%s,r,1\n%s,s,1\n' $user $user $user $user; done
    for user in d e f; do printf '%s,p,1\n%s,q,1\n%s,r,5\n%s,s,5\n' $user $user $user $user; done
    printf 'f,t,4\n'
} >ratings.csv

run 0 run cf ratings.csv --columns user,item,stars --method als --factors 3 --lambda 0.001 -o users.tsv --items items.csv
holds out "round"
holds out "rmse 0.0"
holds out "of 25 ratings; about 3.04; in"
[ "$(cut -f1 users.tsv | tr '\n' ' ')" = "a b c d e f " ] || fail "users: $(cat users.tsv)"
[ "$(cut -d, -f1 items.csv | tr '\n' ' ')" = "p q r s t " ] || fail "items: $(cat items.csv)"
[ "$(awk '{ print NF }' users.tsv | uniq)" = 4 ] || fail "three factors: $(cat users.tsv)"
# Predicted: the mean and dot products.
tr , '\t' <items.csv | cat users.tsv - | awk '
    NR <= 6 { for (f = 1; f <= 3; f++) u[$1, f] = $(f + 1) }
    NR > 6 { for (f = 1; f <= 3; f++) v[$1, f] = $(f + 1) }
    function rating(user, item) { return 3.04 + u[user, 1] * v[item, 1] + u[user, 2] * v[item, 2] + u[user, 3] * v[item, 3] }
    function near(x, y) { return x - y < 0.1 && y - x < 0.1 }
    END { exit !(near(rating("a", "p"), 5) && near(rating("e", "p"), 1) && near(rating("f", "t"), 4)) }' || fail "predicted otherwise"

# Threads and the file's form do not matter; the seed does.
run 0 run cf ratings.csv --columns user,item,stars --factors 40 --rounds 3 --threads 1 -o one.npy
run 0 run cf ratings.csv --columns user,item,stars --factors 40 --rounds 3 --threads 3 -o more.npy
cmp -s one.npy more.npy || fail "threads give others"
run 0 run cf ratings.csv --columns user,item,stars --factors 40 --rounds 3 --seed 5 -o more.npy
cmp -s one.npy more.npy && fail "the same guess from another seed"
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 5\n2 2 1\n2 3 -2\n' >r.mtx
run 0 run cf r.mtx --factors 2 --rounds 5 --quiet -o -
[ "$(cut -f1 out | tr '\n' ' ')" = "1 2 " ] || fail "numbered: $(cat out)"
run 0 run cf r.mtx --method gradient --offset 0 --rate 0.01 --items items.npy
holds out "; about 0; in"

run 0 run cf ratings.csv --columns user,item,stars --held-out 0.3 --seed 2
holds out "held out"
[ "$(awk '$1 == "rmse" { print $4 + $8 }' out)" = 25 ] || fail "split: $(cat out)"

# Statistics, which are all that standard output has.
run 0 run cf ratings.csv --columns user,item,stars --method als --factors 3 --rounds 4 --held-out 0.3 --seed 2 --stats text -o u.npy
holds out "input            6 users, 5 items, 25 ratings"
holds out "program          cf"
holds out "rounds           4"
holds out "rmse             "
holds out "held out         "
holds out "result           6 x 3 fp32, 72 bytes"
holds out "items            5 x 3 fp32, 60 bytes"
run 0 run cf ratings.csv --columns user,item,stars --method als --factors 3 --rounds 4 --held-out 0.3 --seed 2 --stats json
python3 - out <<'PY' || fail "statistics as JSON: $(cat out)"
import json, sys
x = json.load(open(sys.argv[1]))
assert x["input"] == {"path": "ratings.csv", "users": 6, "items": 5, "nvals": 25} and x["program"] == "cf" and x["rounds"] == 4
assert [s["round"] for s in x["steps"]] == [1, 2, 3, 4]
assert abs(x["steps"][-1]["rmse"] - x["trained"]["rmse"]) < 1e-5 and abs(x["steps"][-1]["held_out"] - x["held_out"]["rmse"]) < 1e-5
assert x["trained"]["ratings"] + x["held_out"]["ratings"] == 25 and 1 < x["offset"] < 5
assert x["result"] == {"nrows": 6, "ncols": 3, "type": "fp32", "bytes": 72} and x["items"]["nrows"] == 5 and x["peak_bytes"] > 0
PY
run 0 run cf ratings.csv --columns user,item,stars --rounds 1 --stats json
grep -q '"held_out": null' out || fail "held out: $(cat out)"

run 2 run cf r.mtx --method changes
says "--method: of cf it is sgd, als or gradient"
run 2 run cf r.mtx --rate 0.1 --method als
says "--rate: als has none"
run 2 run cf r.mtx --held-out 1
says "--held-out: 1; expected more than 0 and less than 1"
run 2 run cf r.mtx --lambda 0
says "--lambda: 0; expected more than 0"
for option in lambda rate offset; do
    run 2 run cf none.mtx --$option inf
    says "--$option: inf; expected"
done
run 3 run cf r.mtx --lambda 1e-300 --method als
says "r.mtx: row 1 has no one best factors in fp32; expected a larger --lambda than 1e-300"
run 3 run cf ratings.csv --columns user,item,stars --rate 10 --rounds 50
says "expected a lower --rate than 10"
run 2 run cf r.mtx --rate 0
says "--rate: 0; expected more than 0"
run 2 run cf r.mtx --stats text --items -
says "--stats prints on standard output too"
run 2 run cf r.mtx --held-out 0.99999999
says "--held-out: 0.99999999 holds out all of the 3 ratings"
run 2 run cf r.mtx --held-out 1e-9
says "--held-out: 1e-09 holds out none of the 3 ratings"
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 0\n' >none.mtx
run 3 run cf none.mtx
says "none.mtx: has no ratings"
run 0 run cf ratings.csv --columns user,item,stars --rounds 1 -o o.txt
[ "$(cut -f1 o.txt | head -1)" = "$(sed -n 2p ratings.csv | cut -d, -f1)" ] && [ ! -e o.ids.csv ] || fail "txt: $(head -2 o.txt)"
run 2 run cf r.mtx -o - --items -
says "--output and --items both go to standard output"
printf 'u,i,r\n"al, x",b,3\n"two\nlines","ta\tb",1\n' >odd.csv
run 0 run cf odd.csv --factors 1 --rounds 1 -o o.csv --items o.tsv
[ "$(sed 's/,[-0-9.e]*$//' o.csv)" = "$(printf '"al, x"\n"two\nlines"')" ] || fail "quotes: $(cat o.csv)"
[ "$(cut -f1 o.tsv)" = "$(printf 'b\nta b')" ] || fail "blanks: $(cat o.tsv)"
run 0 run cf odd.csv --factors 1 --rounds 1 -o o.npy
[ "$(cat o.ids.csv)" = "$(printf 'position,id\n0,"al, x"\n1,"two\nlines"')" ] || fail "ids: $(cat o.ids.csv)"
run 2 run cf r.mtx --sources 1
says "--sources means nothing to cf"
run 2 run components r.mtx --factors 3
says "--factors means nothing to components"
for option in "method als" "lambda 1" "rate 1" "offset 1" "held-out 0.5" "items i.npy"; do
    run 2 run components r.mtx --$option
    says "--${option% *} means nothing to components"
done
run 3 run cf r.mtx --rate 10 --rounds 50
says "factors grew beyond all bounds in round"
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n' >nan.mtx
run 3 run cf nan.mtx
says "nan.mtx: the rating of 1 for 1 is nan; expected a finite one"
printf 'ann,film,1\nbob,film,nan\n' >nan.csv
run 3 run cf nan.csv
says "nan.csv: the rating of bob for film is nan"
run 2 run cf r.mtx -o r.mtx
run 2 run cf r.mtx -o f.tsv --items f.tsv
says "--items and --output name the same file"
run 5 run cf r.mtx -o none/here.tsv
finish
