/* Entries that are not there for a pick, since they are too late or excluded: every selector against a slow
 * picker, trees of FtB_sample in time, entries among sampled vertices, what is refused. */
#include "support/check.h"

#include "oracle/ref_sample.h"
#include "support/chi_square.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

/* A square graph with times; some entries are excluded. */
typedef struct graph {
    FtB_Matrix A;
    int64_t n, nvals;
    const int64_t *rowptr;
    const int32_t *column;
    const double *weight;
    int64_t *times, *exclude, nexclude;
    bool *gone; /* excluded, or the reverse of such a one */
} graph;

static graph make_graph(rng *r, int64_t n, int64_t degree, int64_t last, bool reverses)
{
    graph g = {.n = n};
    const int64_t count = n * degree;
    int64_t *I = malloc(sizeof *I * (size_t)(count + 1)), *J = malloc(sizeof *J * (size_t)(count + 1));
    double *X = malloc(sizeof *X * (size_t)(count + 1));
    for (int64_t e = 0; e < count; e++) {
        I[e] = rng_below(r, 1 + rng_below(r, n));
        J[e] = rng_below(r, n);
        X[e] = 0.1 + rng_unit(r);
    }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP64, n, n, 1, count, I, J, X, FTB_DUP_FIRST, NULL));
    const void *column, *weight;
    assert_ok(FtB_Matrix_csr(g.A, &g.rowptr, &column, &weight));
    g.column = column;
    g.weight = weight;
    g.nvals = g.rowptr[n];
    g.times = malloc(sizeof *g.times * (size_t)(g.nvals + 1));
    g.exclude = malloc(sizeof *g.exclude * (size_t)(g.nvals + 1));
    g.gone = calloc((size_t)g.nvals + 1, 1);
    for (int64_t e = 0; e < g.nvals; e++)
        g.times[e] = rng_below(r, last) - 3;
    for (int64_t t = 0; t < g.nvals / 4; t++) { /* also again */
        const int64_t e = g.exclude[g.nexclude++] = rng_below(r, g.nvals);
        int64_t i = 0;
        while (g.rowptr[i + 1] <= e)
            i++;
        const int64_t j = g.column[e];
        g.gone[e] = true;
        for (int64_t b = g.rowptr[j]; reverses && b < g.rowptr[j + 1]; b++)
            if (g.column[b] == i)
                g.gone[b] = true;
    }
    free(I);
    free(J);
    free(X);
    return g;
}

static void free_graph(graph *g)
{
    FtB_Matrix_free(&g->A);
    free(g->times);
    free(g->exclude);
    free(g->gone);
}

/* What a slow picker takes of row i: entries. */
static int64_t slow(int64_t **edges, const graph *g, int64_t i, int64_t until, bool timed, bool excluded,
                    ref_row row)
{
    const int64_t begin = g->rowptr[i], n = g->rowptr[i + 1] - begin;
    int64_t *column = malloc(sizeof *column * (size_t)(n + 1));
    bool *there = malloc(sizeof *there * (size_t)(n + 1));
    for (int64_t t = 0; t < n; t++) {
        column[t] = g->column[begin + t];
        there[t] = !(timed && g->times[begin + t] > until) && !(excluded && g->gone[begin + t]);
    }
    row.vertex = (uint64_t)i;
    row.degree = n;
    row.weight = g->weight + begin;
    row.column = column;
    row.there = there;
    row.time = g->times + begin;
    const int64_t count = ref_pick(edges, &row);
    for (int64_t t = 0; t < count; t++)
        (*edges)[t] += begin;
    free(column);
    free(there);
    return count;
}

static const FtB_Selector selectors[] = {FTB_SAMPLE_UNIFORM,   FTB_SAMPLE_WEIGHTED,  FTB_SAMPLE_TOPK,
                                         FTB_SAMPLE_THRESHOLD, FTB_SAMPLE_BERNOULLI, FTB_SAMPLE_LABOR,
                                         FTB_SAMPLE_LAST};

static void random_case(rng *r, int number)
{
    static const int64_t some[] = {0, 1, 2, 3, 5, 10, 20, 61, 62, 63, 70, -1};
    const FtB_Selector selector = selectors[number % 7];
    const bool open = selector == FTB_SAMPLE_THRESHOLD || selector == FTB_SAMPLE_BERNOULLI;
    const bool timed = selector == FTB_SAMPLE_LAST || rng_below(r, 3), excluded = !timed || rng_below(r, 2);
    const bool reverses = excluded && rng_below(r, 2);
    graph g = make_graph(r, 1 + rng_below(r, 150), 1 + rng_below(r, 30), 1 + rng_below(r, 40), reverses);
    int64_t rows[90], until[90], nrows = rng_below(r, 90);
    const int64_t k = open ? -1 : some[rng_below(r, 12)];
    const bool replace = k >= 0 && selector <= FTB_SAMPLE_WEIGHTED && rng_below(r, 2);
    for (int64_t t = 0; t < nrows; t++) {
        rows[t] = rng_below(r, g.n);
        until[t] = rng_below(r, 40) - 5;
    }
    FtB_Matrix S, E;
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, nrows, g.n, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, nrows, g.n, 1));
    FtB_Select_options o = {.size = sizeof o,
                            .selector = selector,
                            .replace = replace,
                            .threshold = selector == FTB_SAMPLE_THRESHOLD ? 0.5 : 0,
                            .seed = rng_bits(r) | 1,
                            .batch = rng_below(r, 9),
                            .hop = rng_below(r, 4),
                            .reverses = reverses,
                            .edges = E};
    if (timed) {
        o.times = FtB_Ids_of(g.times, g.nvals);
        o.until = FtB_Ids_of(until, nrows);
    }
    if (excluded)
        o.exclude = FtB_Ids_of(g.exclude, g.nexclude);
    const ref_row how = {.selector = selector,
                         .replace = replace,
                         .k = k,
                         .threshold = o.threshold,
                         .seed = o.seed,
                         .batch = (uint64_t)o.batch,
                         .hop = (uint64_t)o.hop};
    const bool keyed = selector >= FTB_SAMPLE_WEIGHTED && selector <= FTB_SAMPLE_BERNOULLI;
    for (int again = 0; again < 1 + 2 * (selector == FTB_SAMPLE_WEIGHTED); again++) { /* also with tables */
        const int64_t *rowptr;
        assert_ok(FtB_select_sample(S, FtB_Ids_of(rows, nrows), k, keyed ? "x" : NULL, g.A, &o));
        assert_ok(FtB_Matrix_csr(S, &rowptr, NULL, NULL));
        const int64_t *edges = matrix_values(E);
        for (int64_t t = 0; t < nrows && (timed || g.nexclude > 0);
             t++) { /* else picks are those of no filter */
            int64_t *wanted;
            const int64_t count = slow(&wanted, &g, rows[t], until[t], timed, excluded, how);
            if (rowptr[t + 1] - rowptr[t] != count)
                fail_msg("case %d, selector %d, k %d, row %d: %d picks, expected %d", number, (int)selector,
                         (int)k, (int)rows[t], (int)(rowptr[t + 1] - rowptr[t]), (int)count);
            assert_memory_equal(edges + rowptr[t], wanted, sizeof *wanted * (size_t)count);
            free(wanted);
        }
    }
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&E);
    free_graph(&g);
}

static void random_cases(void **state)
{
    (void)state;
    const int cases = rng_cases(700);
    for (int t = 0; t < cases; t++) {
        rng r = rng_case(t);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 8));
        random_case(&r, t);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- chances: of `degree` entries those divisible by `step` are there, four of them; which pairs come */

static void chances(void **state)
{
    (void)state;
    enum { ROWS = 20000, MOST = 100, THERE = 4 };
    static const double weight[THERE] = {1, 2.5, 0.5, 4};
    for (int kind = 0; kind < 6; kind++) {
        const bool weighted = kind % 2, replace = kind / 2 == 2;
        const int64_t degree = kind / 2 == 1 ? MOST : 6; /* of many, draws alone do not find them */
        const int64_t step = degree / THERE;
        int64_t *rowptr = malloc(sizeof *rowptr * (ROWS + 1)), *until = calloc(ROWS, sizeof *until);
        int64_t *times = malloc(sizeof *times * (size_t)(ROWS * degree)), count[16] = {0};
        int32_t *column = malloc(sizeof *column * (size_t)(ROWS * degree));
        double *x = malloc(sizeof *x * (size_t)(ROWS * degree)), chance[16] = {0}, sum = 8;
        for (int64_t i = 0; i <= ROWS; i++)
            rowptr[i] = i * degree;
        for (int64_t e = 0; e < ROWS * degree; e++) {
            const int64_t t = e % degree;
            const bool there = t % step == 0 && t / step < THERE;
            column[e] = (int32_t)t;
            times[e] = !there;
            x[e] = there ? weight[t / step] : 3;
        }
        for (int a = 0; a < THERE; a++)
            for (int b = 0; b < THERE; b++) {
                const double p = weighted ? weight[a] : 2, q = weighted ? weight[b] : 2;
                if (a != b || replace)
                    chance[(a < b ? a : b) * 4 + (a < b ? b : a)] += p / sum * q / (replace ? sum : sum - p);
            }
        FtB_Matrix A, S;
        assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP64, ROWS, degree, 1, rowptr, column, x));
        assert_ok(FtB_Matrix_new(&S, FTB_FP64, ROWS, degree, 1));
        assert_ok(FtB_select_sample(S, NULL, 2, weighted ? "x" : NULL, A,
                                    FTB_SELECT_OPTIONS(.seed = 8, .replace = replace,
                                                       .times = FtB_Ids_of(times, ROWS * degree),
                                                       .until = FtB_Ids_of(until, ROWS))));
        const void *picked;
        const int64_t *begins;
        assert_ok(FtB_Matrix_csr(S, &begins, &picked, NULL));
        assert_int_equal(begins[ROWS], 2 * ROWS);
        for (int64_t i = 0; i < ROWS; i++) {
            const int32_t *two = (const int32_t *)picked + 2 * i;
            assert_true(two[0] % step == 0 && two[1] % step == 0);
            count[two[0] / step * 4 + two[1] / step]++;
        }
        check_chances(count, chance, 16, weighted ? "by weight" : "uniform");
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&S);
        free(rowptr);
        free(until);
        free(times);
        free(column);
        free(x);
    }
}

/* ---- FtB_sample */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A tree's rows have what is there at its seed's time, by its own draws. */
static void trees_in_time(void **state)
{
    (void)state;
    static const int64_t fanouts[] = {4, 3}, seeds[] = {2, 0, 5, 2}, until[] = {12, 3, -9, 30};
    for (int c = 0; c < 20; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 80, 12, 30, true);
        FtB_Sample s;
        const bool last = c % 2;
        const FtB_Sample_options o = {.size = sizeof o,
                                      .selector = last ? FTB_SAMPLE_LAST : FTB_SAMPLE_DEFAULT,
                                      .seed = 31,
                                      .batch = c,
                                      .disjoint = true,
                                      .edges = true,
                                      .reverses = true,
                                      .times = FtB_Ids_of(g.times, g.nvals),
                                      .until = FtB_Ids_of(until, 4),
                                      .exclude = FtB_Ids_of(g.exclude, g.nexclude)};
        assert_ok(FtB_sample(&s, g.A, seeds, 4, fanouts, 2, &o));
        const int64_t *vertices = FtB_Sample_vertices(s).at;
        const int32_t *trees = FtB_Sample_trees(s);
        for (int h = 0; h < 2; h++) {
            const int64_t *rowptr;
            int64_t nrows, *edges = (int64_t *)(uintptr_t)FtB_Sample_edges(s, h).at;
            assert_ok(FtB_Matrix_shape(FtB_Sample_layer(s, h), &nrows, NULL, NULL, NULL, NULL));
            assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, h), &rowptr, NULL, NULL));
            for (int64_t v = 0; v < nrows; v++) {
                int64_t *wanted;
                const ref_row row = {.selector = last ? FTB_SAMPLE_LAST : FTB_SAMPLE_UNIFORM,
                                     .k = fanouts[h],
                                     .seed =
                                         ref_mix(31, (uint64_t)seeds[trees[v]], UINT64_C(0xff000002) << 32),
                                     .batch = (uint64_t)c,
                                     .hop = (uint64_t)h};
                const int64_t count = slow(&wanted, &g, vertices[v], until[trees[v]], true, true, row);
                assert_int_equal(count, rowptr[v + 1] - rowptr[v]);
                qsort(edges + rowptr[v], (size_t)count, sizeof *edges, by_number);
                assert_memory_equal(edges + rowptr[v], wanted, sizeof *edges * (size_t)count);
                free(wanted);
            }
        }
        FtB_Sample_free(&s);
        free_graph(&g);
    }
}

/* All entries among the vertices, of a tree. */
static void induced(void **state)
{
    (void)state;
    static const int64_t fanouts[] = {3, 2}, seeds[] = {2, 0, 5, 2};
    for (int c = 0; c < 20; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 60, 6, 30, false);
        FtB_Sample s;
        const FtB_Sample_options o = {.size = sizeof o,
                                      .seed = 31,
                                      .batch = c,
                                      .disjoint = c % 2,
                                      .edges = c % 3 != 0,
                                      .structural = c % 5 == 0,
                                      .induced = true};
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
        assert_ok(FtB_sample(&s, g.A, seeds, 4, fanouts, 2, &o));
        const FtB_Ids v = FtB_Sample_vertices(s), edges = FtB_Sample_induced_edges(s);
        const int32_t *trees = FtB_Sample_trees(s);
        const int64_t *rowptr;
        const void *column, *value;
        int64_t nrows, ncols, at = 0;
        assert_ok(FtB_Matrix_shape(FtB_Sample_induced(s), &nrows, &ncols, NULL, NULL, NULL));
        assert_ok(FtB_Matrix_csr(FtB_Sample_induced(s), &rowptr, &column, &value));
        assert_int_equal(nrows, v.count);
        assert_int_equal(ncols, v.count);
        assert_int_equal(edges.count, o.edges ? rowptr[nrows] : 0);
        assert_true(!value == o.structural);
        for (int64_t a = 0; a < v.count; a++) {
            for (int64_t b = 0; b < v.count; b++) {
                bool first = !trees || trees[a] == trees[b];
                for (int64_t d = 0; d < b; d++)
                    first &= v.at[d] != v.at[b] || (trees && trees[d] != trees[b]);
                for (int64_t e = g.rowptr[v.at[a]]; first && e < g.rowptr[v.at[a] + 1]; e++)
                    if (g.column[e] == v.at[b]) {
                        assert_true(at < rowptr[a + 1]);
                        assert_int_equal(((const int32_t *)column)[at], b);
                        assert_true(!o.edges || edges.at[at] == e);
                        assert_true(!value || ((const double *)value)[at] == g.weight[e]);
                        at++;
                    }
            }
            assert_int_equal(at, rowptr[a + 1]);
        }
        FtB_Sample_free(&s);
        free_graph(&g);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* A vertex of another tree is not there, whatever comes next in the list. */
static void induced_trees(void **state)
{
    (void)state;
    static const int64_t I[] = {5, 7}, J[] = {7, 7}, seeds[] = {5, 7};
    FtB_Matrix A;
    FtB_Sample s;
    int64_t nvals;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 9, 9, 0, 2, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (int disjoint = 0; disjoint < 2; disjoint++) {
        assert_ok(
            FtB_sample(&s, A, seeds, 2, NULL, 0, FTB_SAMPLE_OPTIONS(.disjoint = disjoint, .induced = true)));
        assert_ok(FtB_Matrix_shape(FtB_Sample_induced(s), NULL, NULL, &nvals, NULL, NULL));
        assert_int_equal(nvals, disjoint ? 1 : 2);
        FtB_Sample_free(&s);
    }
    FtB_Matrix_free(&A);
}

/* ---- refusals, failing allocations */

#define SELECT(...) FtB_select_sample(S, NULL, 1, NULL, g.A, FTB_SELECT_OPTIONS(__VA_ARGS__))
#define SAMPLE(...) FtB_sample(&s, g.A, seeds, 2, fanouts, 1, FTB_SAMPLE_OPTIONS(__VA_ARGS__))

static void refused(void **state)
{
    (void)state;
    static const int64_t seeds[] = {0, 1}, fanouts[] = {2}, until[50], bad[] = {0, -1};
    rng r = rng_new();
    graph g = make_graph(&r, 50, 6, 30, false);
    FtB_Matrix S, R;
    FtB_Sample s;
    const FtB_Ids times = FtB_Ids_of(g.times, g.nvals), ends = FtB_Ids_of(until, 50);
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, 50, 50, 1));
    assert_fails(GrB_NULL_POINTER, "times is missing", SELECT(.until = ends));
    assert_fails(GrB_NULL_POINTER, "until is missing; expected 50 numbers, one for each of rows",
                 SELECT(.times = times));
    assert_fails(GrB_NULL_POINTER, "times is missing", SELECT(.selector = FTB_SAMPLE_LAST));
    assert_fails(GrB_DIMENSION_MISMATCH, "times has 3 numbers; expected",
                 SELECT(.times = FtB_Ids_of(g.times, 3), .until = ends));
    assert_fails(GrB_DIMENSION_MISMATCH, "until has 49 numbers; expected 50",
                 SELECT(.times = times, .until = FtB_Ids_of(until, 49)));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "exclude[1] is -1; expected a place in A",
                 SELECT(.exclude = FtB_Ids_of(bad, 2)));
    assert_fails(GrB_INVALID_VALUE, "exclude has -2 numbers", SELECT(.exclude = FtB_Ids_of(bad, -2)));
    assert_fails(GrB_INVALID_VALUE, "exclude has 2 numbers at NULL", SELECT(.exclude = FtB_Ids_of(NULL, 2)));
    assert_fails(
        GrB_INVALID_VALUE, "key is given, which FTB_SAMPLE_LAST",
        FtB_select_sample(S, NULL, 1, "x", g.A,
                          FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_LAST, .times = times, .until = ends)));
    assert_fails(GrB_INVALID_VALUE, "times go with disjoint",
                 SAMPLE(.times = times, .until = FtB_Ids_of(until, 2)));
    assert_fails(GrB_DIMENSION_MISMATCH, "until has 50 numbers; expected 2, one for each of the seeds",
                 SAMPLE(.times = times, .until = ends, .disjoint = true));
    assert_fails(GrB_INVALID_VALUE, "induced means nothing", SAMPLE(.induced = true, .apart = true));
    assert_null(FtB_Sample_induced(NULL));
    R = rng_matrix(&r, FTB_FP32, 3, 4, 1, 1);
    FtB_Matrix T;
    assert_ok(FtB_Matrix_new(&T, FTB_FP64, 3, 4, 1));
    assert_fails(GrB_DIMENSION_MISMATCH, "reverses, of A that is 3 x 4",
                 FtB_select_sample(T, NULL, 1, NULL, R, FTB_SELECT_OPTIONS(.reverses = true)));
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&T);
    free_graph(&g);
}

typedef struct sampling {
    const graph *g;
    FtB_Selector selector;
} sampling;

static GrB_Info sample_once(void *arg)
{
    static const int64_t seeds[] = {1, 5, 1}, fanouts[] = {3, 2}, until[] = {20, 9, 1};
    const sampling *c = arg;
    FtB_Sample s;
    const GrB_Info info = FtB_sample(
        &s, c->g->A, seeds, 3, fanouts, 2,
        FTB_SAMPLE_OPTIONS(.selector = c->selector, .disjoint = true, .induced = true, .edges = true,
                           .times = FtB_Ids_of(c->g->times, c->g->nvals), .until = FtB_Ids_of(until, 3),
                           .reverses = true, .exclude = FtB_Ids_of(c->g->exclude, c->g->nexclude)));
    FtB_Sample_free(&s);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    graph g = make_graph(&r, 40, 10, 30, true);
    for (int last = 0; last < 2; last++)
        fail_every_allocation(sample_once, NULL,
                              &(sampling){&g, last ? FTB_SAMPLE_LAST : FTB_SAMPLE_UNIFORM});
    free_graph(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),  cmocka_unit_test(chances), cmocka_unit_test(trees_in_time),
        cmocka_unit_test(induced),       cmocka_unit_test(refused), cmocka_unit_test(failing_allocations),
        cmocka_unit_test(induced_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
