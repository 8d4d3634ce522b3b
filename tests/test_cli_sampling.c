/* featblas sample beside the library's own calls: trees in time, exclusions, pairs without an entry, walks,
 * and relations, each read back from the files that the command wrote, bit for bit. */
#include "core/core.h"
#include "support/check.h"
#include "support/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 60, M = 40, SEEDS = 17, BATCH = 7, BATCHES = 3, HOPS = 2 };

static FtB_Matrix A, B; /* N x N and N x M, values are whole numbers below 10 */
static int64_t seeds[SEEDS], until[SEEDS], times[N * N], nvals;

static FtB_Matrix make_graph(rng *r, int64_t nrows, int64_t ncols, int64_t count)
{
    int64_t *I = malloc(sizeof *I * (size_t)count), *J = malloc(sizeof *J * (size_t)count);
    double *X = malloc(sizeof *X * (size_t)count);
    FtB_Matrix made;
    for (int64_t e = 0; e < count; e++) {
        I[e] = rng_below(r, 1 + rng_below(r, nrows));
        J[e] = rng_below(r, ncols);
        X[e] = (double)rng_below(r, 10);
    }
    assert_ok(FtB_Matrix_build(&made, FTB_FP64, nrows, ncols, 1, count, I, J, X, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    return made;
}

static void write_numbers(const char *path, const int64_t *at, int64_t count, int64_t columns)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int64_t t = 0; t < count; t++)
        fprintf(file, "%lld%c", (long long)at[t], (t + 1) % columns ? '\t' : '\n');
    assert_int_equal(fclose(file), 0);
}

static int start(void **state)
{
    static char folder[] = "/tmp/featblas-sampling-XXXXXX";
    rng r = rng_new();
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    *state = folder;
    A = make_graph(&r, N, N, 900);
    B = make_graph(&r, N, M, 300);
    nvals = A->pattern->nvals;
    for (int t = 0; t < SEEDS; t++) {
        seeds[t] = rng_below(&r, N);
        until[t] = rng_below(&r, 100);
    }
    for (int64_t e = 0; e < nvals; e++)
        times[e] = rng_below(&r, 100);
    assert_ok(FtB_Matrix_write(A, "a.npz", FTB_FORMAT_AUTO, NULL, NULL, 0));
    assert_ok(FtB_Matrix_write(B, "b.npz", FTB_FORMAT_AUTO, NULL, NULL, 0));
    write_numbers("seeds.txt", seeds, SEEDS, 1);
    write_numbers("until.txt", until, SEEDS, 1);
    write_numbers("times.txt", times, nvals, 1);
    return 0;
}

static int end(void **state)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    return chdir("/") == 0 && system(command) == 0 ? 0 : 1;
}

static void run(const char *arguments)
{
    char command[1200];
    snprintf(command, sizeof command,
             "rm -rf out && '%s' sample %s --seeds seeds.txt --batch %d --seed 5 -q -o out >said 2>&1",
             getenv("FEATBLAS_COMMAND"), arguments, BATCH);
    if (system(command) != 0) {
        char text[600] = "";
        FILE *said = fopen("said", "r");
        if (said)
            text[fread(text, 1, sizeof text - 1, said)] = '\0';
        fail_msg("%s: %s", command, text);
    }
}

static int64_t batch_size(int b) { return ftb_min(BATCH, SEEDS - b * BATCH); }

/* ---- files */

/* A list that was written is `list`. */
static void same_list(int b, const char *what, const int64_t *at, int64_t count)
{
    char path[100];
    FtB_Block X;
    int64_t rows, cols;
    void *values;
    snprintf(path, sizeof path, "out/%06d.%s", b, what);
    assert_ok(FtB_Block_read(&X, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_INT64)));
    assert_ok(FtB_Block_shape(X, &rows, &cols, NULL, NULL, &values));
    assert_int_equal(rows, count);
    assert_true(cols == 1 || rows == 0);
    assert_memory_equal(values, at, (size_t)count * sizeof *at);
    FtB_Block_free(&X);
}

static void same_matrix(int b, const char *what, FtB_Matrix S)
{
    char path[100];
    FtB_Matrix T;
    const int64_t *p, *q;
    const void *c, *d, *x, *y;
    int64_t rows, cols, m, n;
    snprintf(path, sizeof path, "out/%06d.%s", b, what);
    assert_ok(FtB_Matrix_read(&T, NULL, NULL, path, FTB_READ_OPTIONS(.duplicates = FTB_DUP_KEEP)));
    assert_ok(FtB_Matrix_shape(T, &rows, &cols, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_shape(S, &m, &n, NULL, NULL, NULL));
    assert_true(rows == m && cols == n);
    assert_ok(FtB_Matrix_csr(T, &p, &c, &x));
    assert_ok(FtB_Matrix_csr(S, &q, &d, &y));
    assert_memory_equal(p, q, (size_t)(rows + 1) * sizeof *p);
    assert_memory_equal(c, d, (size_t)p[rows] * sizeof(int32_t));
    if (y)
        assert_memory_equal(x, y, (size_t)p[rows] * sizeof(double));
    FtB_Matrix_free(&T);
}

static void same_trees(int b, const char *what, const int32_t *trees, int64_t count)
{
    int64_t *wide = malloc((size_t)(count + 1) * sizeof *wide);
    for (int64_t t = 0; t < count; t++)
        wide[t] = trees[t];
    same_list(b, what, wide, count);
    free(wide);
}

/* ---- neighbourhoods */

static const int64_t fanouts[HOPS] = {4, 3};

/* The files of all batches are what the library draws with the options; *o: but for batch and until. */
static void compare(const char *arguments, FtB_Sample_options o)
{
    char all[800], what[40];
    const FtB_Ids moments = o.until;
    snprintf(all, sizeof all, "--graph a.npz --fanout 4,3 --edges %s", arguments);
    run(all);
    o.size = sizeof o;
    o.seed = 5;
    o.edges = true;
    for (int b = 0; b < BATCHES; b++) {
        FtB_Sample s;
        o.batch = b;
        if (moments.at)
            o.until = FtB_Ids_of(moments.at + b * BATCH, batch_size(b));
        assert_ok(FtB_sample(&s, A, seeds + b * BATCH, batch_size(b), fanouts, HOPS, &o));
        const FtB_Ids v = FtB_Sample_vertices(s);
        same_list(b, "vertices.npy", v.at, v.count);
        if (o.disjoint)
            same_trees(b, "trees.npy", FtB_Sample_trees(s), v.count);
        for (int h = 0; h < HOPS; h++) {
            snprintf(what, sizeof what, "hop%d.npz", h);
            same_matrix(b, what, FtB_Sample_layer(s, h));
            snprintf(what, sizeof what, "edges%d.npy", h);
            same_list(b, what, FtB_Sample_edges(s, h).at, FtB_Sample_edges(s, h).count);
        }
        FtB_Sample_free(&s);
    }
}

static void in_time(void **state)
{
    int64_t values[N * N], five[SEEDS];
    const double *x = matrix_values(A);
    (void)state;
    for (int64_t e = 0; e < nvals; e++)
        values[e] = (int64_t)x[e];
    for (int t = 0; t < SEEDS; t++)
        five[t] = 5;
    const FtB_Ids moments = FtB_Ids_of(until, SEEDS);
    compare("--times times.txt --until until.txt",
            (FtB_Sample_options){.disjoint = true, .times = FtB_Ids_of(times, nvals), .until = moments});
    compare("--times values --until 5 --once", (FtB_Sample_options){.disjoint = true,
                                                                    .once = true,
                                                                    .times = FtB_Ids_of(values, nvals),
                                                                    .until = FtB_Ids_of(five, SEEDS)});
    compare("--times times.txt --until until.txt --sampler last --self",
            (FtB_Sample_options){.selector = FTB_SAMPLE_LAST,
                                 .disjoint = true,
                                 .self = true,
                                 .times = FtB_Ids_of(times, nvals),
                                 .until = moments});
}

/* Whether the graph has the entry the other way, too; it is the one above the diagonal. */
static bool is_mutual(int64_t place)
{
    const ftb_pattern *p = A->pattern;
    int64_t i = 0;
    while (p->rowptr[i + 1] <= place)
        i++;
    for (int64_t e = p->rowptr[ftb_col(p, place)]; e < p->rowptr[ftb_col(p, place) + 1]; e++)
        if (ftb_col(p, e) == i)
            return i < ftb_col(p, place);
    return false;
}

static void excluded(void **state)
{
    int64_t places[50], pairs[100];
    rng r = rng_new();
    (void)state;
    for (int t = 0; t < 50; t++) {
        do
            places[t] = rng_below(&r, nvals);
        while (!is_mutual(places[t]) && t % 2);
        pairs[2 * t] = 0;
        while (A->pattern->rowptr[pairs[2 * t] + 1] <= places[t])
            pairs[2 * t]++;
        pairs[2 * t + 1] = ftb_col(A->pattern, places[t]);
    }
    write_numbers("places.txt", places, 50, 1);
    write_numbers("pairs.txt", pairs, 100, 2);
    const FtB_Ids gone = FtB_Ids_of(places, 50);
    compare("--exclude places.txt", (FtB_Sample_options){.exclude = gone});
    compare("--exclude pairs.txt --disjoint", (FtB_Sample_options){.exclude = gone, .disjoint = true});
    compare("--exclude pairs.txt --exclude-reverse", (FtB_Sample_options){.exclude = gone, .reverses = true});
}

/* ---- pairs without an entry */

static void negative(void **state)
{
    (void)state;
    for (int c = 0; c < 3; c++) {
        const bool global = c > 0, loops = c == 2;
        FtB_Negative_options o = {
            .size = sizeof o, .seed = 5, .global = global, .loops = loops, .replace = loops};
        compare(c == 0   ? "--negative 6"
                : c == 1 ? "--negative 30 --negative-global"
                         : "--negative 30 --negative-global --negative-loops --replace",
                (FtB_Sample_options){.replace = loops});
        for (int b = 0; b < BATCHES; b++) {
            FtB_Matrix S;
            o.batch = b;
            const FtB_Ids rows = FtB_Ids_of(seeds + b * BATCH, batch_size(b));
            assert_ok(FtB_Matrix_new(&S, FTB_BOOL, global ? N : rows.count, N, 0));
            if (global)
                assert_ok(FtB_sample_negative(S, NULL, 30, A, &o));
            else
                assert_ok(FtB_sample_negative(S, rows, 6, A, &o));
            same_matrix(b, "negative.npz", S);
            FtB_Matrix_free(&S);
        }
    }
}

/* ---- walks */

static void walks(void **state)
{
    static const char *const arguments[] = {"--walk 6 --walks 3", "--walk 9 --key 'x + 1' --p 0.5 --q 2",
                                            "--walk 4 --restart 0.3 --walks 2"};
    const FtB_Walk_options options[] = {
        {.size = sizeof(FtB_Walk_options), .seed = 5, .each = 3},
        {.size = sizeof(FtB_Walk_options), .seed = 5, .key = "x + 1", .p = 0.5, .q = 2},
        {.size = sizeof(FtB_Walk_options), .seed = 5, .restart = 0.3, .each = 2}};
    static const int64_t lengths[] = {6, 9, 4};
    (void)state;
    for (int c = 0; c < 3; c++) {
        char all[300];
        FtB_Walk_options o = options[c];
        snprintf(all, sizeof all, "--graph a.npz %s", arguments[c]);
        run(all);
        for (int b = 0; b < BATCHES; b++) {
            char path[60];
            FtB_Block got, wanted;
            int64_t rows, cols, m, n;
            void *x, *y;
            o.batch = b;
            snprintf(path, sizeof path, "out/%06d.walks.npy", b);
            assert_ok(FtB_walk(&wanted, A, seeds + b * BATCH, batch_size(b), lengths[c], &o));
            assert_ok(FtB_Block_read(&got, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_INT64)));
            assert_ok(FtB_Block_shape(got, &rows, &cols, NULL, NULL, &x));
            assert_ok(FtB_Block_shape(wanted, &m, &n, NULL, NULL, &y));
            assert_true(rows == m && cols == n);
            assert_memory_equal(x, y, (size_t)(rows * cols) * sizeof(int64_t));
            FtB_Block_free(&got);
            FtB_Block_free(&wanted);
        }
    }
}

/* ---- relations */

static void same_relation_batch(FtB_Relation_sample s, int b, bool trees)
{
    static const char *const types[] = {"paper", "author"}, *const relations[] = {"author-writes-paper",
                                                                                  "paper-cites-paper"};
    char what[80];
    for (int t = 0; t < 2; t++) {
        const FtB_Ids v = FtB_Relation_sample_vertices(s, t);
        snprintf(what, sizeof what, "%s.vertices.npy", types[t]);
        same_list(b, what, v.at, v.count);
        snprintf(what, sizeof what, "%s.trees.npy", types[t]);
        if (trees)
            same_trees(b, what, FtB_Relation_sample_trees(s, t), v.count);
    }
    for (int r = 0; r < 2; r++)
        for (int h = 0; h < HOPS; h++) {
            const FtB_Ids e = FtB_Relation_sample_edges(s, r, h);
            snprintf(what, sizeof what, "%s.hop%d.npz", relations[r], h);
            same_matrix(b, what, FtB_Relation_sample_layer(s, r, h));
            snprintf(what, sizeof what, "%s.edges%d.npy", relations[r], h);
            same_list(b, what, e.at, e.count);
        }
}

static void over_relations(void **state)
{
    static const int64_t picks[2 * HOPS] = {4, 3, 2, 5}, same[2 * HOPS] = {3, 2, 3, 2};
    int64_t *values = malloc(sizeof *values * (size_t)(nvals + B->pattern->nvals)), five[SEEDS];
    const double *a = matrix_values(A), *x = matrix_values(B);
    FtB_Relations list;
    (void)state;
    for (int64_t e = 0; e < B->pattern->nvals; e++)
        values[e] = (int64_t)x[e];
    for (int64_t e = 0; e < nvals; e++)
        values[B->pattern->nvals + e] = (int64_t)a[e];
    for (int t = 0; t < SEEDS; t++)
        five[t] = 5;
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_add(list, "writes", "author", "paper", B));
    assert_ok(FtB_Relations_add(list, "cites", "paper", "paper", A));
    for (int c = 0; c < 3; c++) {
        char all[400];
        snprintf(
            all, sizeof all,
            "--relation writes:author:paper=b.npz --relation cites:paper:paper=a.npz --edges --fanout %s",
            c == 0   ? "4,3/2,5"
            : c == 1 ? "3,2 --times values --until 5 --self"
                     : "3,2 --type paper --once --key 'x + 1'");
        run(all);
        for (int b = 0; b < BATCHES; b++) {
            FtB_Relation_sample s;
            const FtB_Ids lists[] = {FtB_Ids_of(seeds + b * BATCH, batch_size(b)), FtB_Ids_of(NULL, 0)};
            FtB_Sample_options o = {.size = sizeof o,
                                    .seed = 5,
                                    .batch = b,
                                    .edges = true,
                                    .once = c == 2,
                                    .key = c == 2 ? "x + 1" : NULL,
                                    .disjoint = c == 1,
                                    .self = c == 1};
            if (c == 1) {
                o.times = FtB_Ids_of(values, nvals + B->pattern->nvals);
                o.until = FtB_Ids_of(five, batch_size(b));
            }
            assert_ok(FtB_Relations_sample(&s, list, lists, c == 0 ? picks : same, HOPS, &o));
            same_relation_batch(s, b, c == 1);
            FtB_Relation_sample_free(&s);
        }
    }
    FtB_Relations_free(&list);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_time), cmocka_unit_test(excluded),
                                       cmocka_unit_test(negative), cmocka_unit_test(walks),
                                       cmocka_unit_test(over_relations)};
    return cmocka_run_group_tests(tests, start, end);
}
