/* LABOR-i, LADIES and FastGCN of a part of a graph: where entries are not there, LABOR-i and LADIES pick what
 * they pick of a graph without them, and FastGCN of the same columns; where seeds have trees of their own,
 * each tree is what it is alone; sums are right in the mean all the same. */
#include "support/check.h"

#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { N = 40, MOST = N * N };

static const FtB_Selector selectors[] = {FTB_SAMPLE_LABOR, FTB_SAMPLE_LADIES, FTB_SAMPLE_FASTGCN};

/* Entries in the order of rows and columns, and which of them are there for each row that is picked of. */
typedef struct graph {
    FtB_Matrix A;
    int64_t nvals, I[MOST], J[MOST], time[MOST], out[MOST], nout;
    double X[MOST];
    bool excluded[MOST];
} graph;

static graph *make_graph(rng *r, double density, bool reverses)
{
    graph *g = calloc(1, sizeof *g);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (rng_unit(r) < density * (i % 4 ? 0.7 : 2)) {
                g->I[g->nvals] = i;
                g->J[g->nvals] = j;
                g->time[g->nvals] = rng_below(r, 10);
                g->X[g->nvals++] = 0.1 + rng_unit(r);
            }
    assert_ok(FtB_Matrix_build(&g->A, FTB_FP64, N, N, 1, g->nvals, g->I, g->J, g->X, FTB_DUP_ERROR, NULL));
    for (int64_t t = rng_below(r, 60); t > 0 && g->nvals > 0; t--) {
        const int64_t e = rng_below(r, g->nvals);
        g->out[g->nout++] = e;
        g->excluded[e] = true;
        for (int64_t f = 0; f < g->nvals && reverses; f++)
            g->excluded[f] |= g->I[f] == g->J[e] && g->J[f] == g->I[e];
    }
    return g;
}

/* Picks, as lists: rows, places in A and values. */
typedef struct picks {
    int64_t rowptr[N + 1], place[MOST];
    double value[MOST];
} picks;

static void pick_some(picks *to, FtB_Matrix A, const int64_t *rows, int64_t nrows, int64_t k,
                      const FtB_Select_options *o)
{
    FtB_Select_options with = *o;
    FtB_Matrix S;
    const int64_t *rowptr;
    const void *value;
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, nrows, N, 1));
    assert_ok(FtB_Matrix_new(&with.edges, FTB_INT64, nrows, N, 1));
    assert_ok(FtB_select_sample(S, FtB_Ids_of(rows, nrows), k, NULL, A, &with));
    assert_ok(FtB_Matrix_csr(S, &rowptr, NULL, &value));
    const int64_t *places = matrix_values(with.edges);
    for (int64_t r = 0; r <= nrows; r++)
        to->rowptr[r] = rowptr[r];
    for (int64_t t = 0; t < rowptr[nrows]; t++) {
        to->place[t] = places[t];
        to->value[t] = ((const double *)value)[t];
    }
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&with.edges);
}

/* What is wanted: of a graph of the rows at hand, each of its own, without what is not there. */
static void pick_slowly(picks *to, const graph *g, const int64_t *rows, int64_t nrows, int64_t k,
                        const FtB_Select_options *o)
{
    static int64_t I[MOST], J[MOST], place[MOST];
    static double X[MOST];
    FtB_Select_options plain = {
        .size = sizeof plain, .selector = o->selector, .iterations = o->iterations, .seed = o->seed};
    int64_t count = 0;
    FtB_Matrix B;
    if (o->selector ==
        FTB_SAMPLE_FASTGCN) { /* chances are those of all of A: what is not there is left out */
        int64_t at = 0;
        pick_some(to, g->A, rows, nrows, k, &plain);
        for (int64_t r = 0, begin = 0; r < nrows; r++) {
            const int64_t end = to->rowptr[r + 1];
            for (int64_t t = begin; t < end; t++) {
                const int64_t e = to->place[t];
                if ((o->exclude.count > 0 && g->excluded[e]) || (o->times.at && g->time[e] > o->until.at[r]))
                    continue;
                to->place[at] = e;
                to->value[at++] = to->value[t];
            }
            begin = end;
            to->rowptr[r + 1] = at;
        }
        return;
    }
    for (int64_t r = 0; r < nrows; r++)
        for (int64_t e = 0; e < g->nvals; e++) {
            if (g->I[e] != rows[r] || (o->exclude.count > 0 && g->excluded[e]) ||
                (o->times.at && g->time[e] > o->until.at[r]))
                continue;
            I[count] = r;
            J[count] = g->J[e];
            place[count] = e;
            X[count++] = g->X[e];
        }
    assert_ok(FtB_Matrix_build(&B, FTB_FP64, N, N, 1, count, I, J, X, FTB_DUP_ERROR, NULL));
    int64_t all[N];
    for (int64_t r = 0; r < nrows; r++)
        all[r] = r;
    pick_some(to, B, all, nrows, k, &plain);
    for (int64_t t = 0; t < to->rowptr[nrows]; t++)
        to->place[t] = place[to->place[t]];
    FtB_Matrix_free(&B);
}

static void filtered(void **state)
{
    (void)state;
    static const int64_t ks[] = {0, 1, 2, 4, 9, 60};
    static picks fast, slow;
    const int cases = rng_cases(300);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        const bool reverses = c % 2;
        graph *g = make_graph(&r, 0.05 + 0.2 * rng_unit(&r), reverses);
        int64_t rows[N], until[N], nrows = rng_below(&r, N);
        for (int64_t t = 0; t < nrows; t++) {
            rows[t] = rng_below(&r, N); /* also again */
            until[t] = rng_below(&r, 12) - 1;
        }
        FtB_Select_options o = {.size = sizeof o,
                                .selector = selectors[c % 3],
                                .iterations = c % 3 == 0 ? 1 + (int)rng_below(&r, 3) : 0,
                                .seed = rng_bits(&r) | 1};
        if (c / 3 % 3 != 1) {
            o.exclude = FtB_Ids_of(g->out, g->nout);
            o.reverses = reverses;
        }
        if (c / 3 % 3 != 0) {
            o.times = FtB_Ids_of(g->time, g->nvals);
            o.until = FtB_Ids_of(until, nrows);
        }
        const int64_t k = c % 3 == 0 && rng_below(&r, 5) == 0 ? -1 : ks[rng_below(&r, 6)];
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 4));
        if (g->nvals > 0) {
            pick_some(&fast, g->A, rows, nrows, k, &o);
            pick_slowly(&slow, g, rows, nrows, k, &o);
            assert_memory_equal(fast.rowptr, slow.rowptr, sizeof *fast.rowptr * (size_t)(nrows + 1));
            assert_memory_equal(fast.place, slow.place, sizeof *fast.place * (size_t)fast.rowptr[nrows]);
            assert_memory_equal(fast.value, slow.value, sizeof *fast.value * (size_t)fast.rowptr[nrows]);
        }
        FtB_Matrix_free(&g->A);
        free(g);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Columns that are drawn are looked for in a long row: also there, some entries are not. */
static void long_row(void **state)
{
    (void)state;
    enum { HUB = 2000 };
    static int64_t I[HUB], J[HUB], odd[HUB / 2];
    FtB_Matrix A, S, E;
    int64_t nvals, found = 0;
    for (int64_t e = 0; e < HUB; e++) {
        J[e] = e;
        if (e % 2)
            odd[e / 2] = e;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 1, HUB, 0, HUB, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, 1, HUB, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, 1, HUB, 1));
    for (int64_t batch = 0; batch < 20; batch++) {
        assert_ok(
            FtB_select_sample(S, NULL, 20, NULL, A,
                              FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_FASTGCN, .seed = 3, .batch = batch,
                                                 .exclude = FtB_Ids_of(odd, HUB / 2), .edges = E)));
        assert_ok(FtB_Matrix_shape(S, NULL, NULL, &nvals, NULL, NULL));
        for (int64_t t = 0; t < nvals; t++)
            assert_true(((int64_t *)matrix_values(E))[t] % 2 == 0);
        found += nvals;
    }
    assert_true(found > 100 && found < 300); /* half of 400 */
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&E);
}

/* A row's sum of what is there is right in the mean. */
static void means(void **state)
{
    (void)state;
    enum { BATCHES = 4000, ROWS = 6 };
    static const int64_t rows[ROWS] = {0, 4, 5, 8, 9, 12};
    rng r = rng_case(1);
    graph *g = make_graph(&r, 0.3, false);
    double wanted[ROWS] = {0};
    for (int64_t t = 0; t < ROWS; t++)
        for (int64_t e = 0; e < g->nvals; e++)
            wanted[t] += g->I[e] == rows[t] && !g->excluded[e] ? g->X[e] : 0;
    for (int kind = 0; kind < 3; kind++) {
        double sum[ROWS] = {0}, square[ROWS] = {0};
        static picks p;
        for (int64_t b = 0; b < BATCHES; b++) {
            pick_some(&p, g->A, rows, ROWS, 5,
                      FTB_SELECT_OPTIONS(.selector = selectors[kind], .iterations = kind == 0 ? 2 : 0,
                                         .seed = 7, .batch = b, .exclude = FtB_Ids_of(g->out, g->nout)));
            for (int64_t t = 0; t < ROWS; t++) {
                double here = 0;
                for (int64_t e = p.rowptr[t]; e < p.rowptr[t + 1]; e++)
                    here += p.value[e];
                sum[t] += here;
                square[t] += here * here;
            }
        }
        for (int64_t t = 0; t < ROWS; t++) { /* five deviations: once in a million times */
            const double mean = sum[t] / BATCHES, error = sqrt((square[t] / BATCHES - mean * mean) / BATCHES);
            assert_true(fabs(mean - wanted[t]) <= 5 * error + 1e-9);
        }
    }
    FtB_Matrix_free(&g->A);
    free(g);
}

/* The entries of a tree's rows in a layer, in their order, and their values. */
static int64_t tree_of(int64_t *edges, double *values, FtB_Sample s, int h, int32_t tree)
{
    const int32_t *trees = FtB_Sample_trees(s);
    const int64_t *rowptr;
    const void *value;
    int64_t nrows, count = 0;
    assert_ok(FtB_Matrix_shape(FtB_Sample_layer(s, h), &nrows, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, h), &rowptr, NULL, &value));
    for (int64_t r = 0; r < nrows; r++)
        for (int64_t e = rowptr[r]; e < rowptr[r + 1] && trees[r] == tree; e++) {
            edges[count] = FtB_Sample_edges(s, h).at[e];
            values[count++] = ((const double *)value)[e];
        }
    return count;
}

static void trees(void **state)
{
    (void)state;
    enum { SEEDS = 9 };
    static const int64_t fanouts[] = {3, 4, 5};
    static int64_t edges[2][MOST];
    static double values[2][MOST];
    const int cases = rng_cases(60);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph *g = make_graph(&r, 0.1, false);
        int64_t seeds[SEEDS], until[SEEDS];
        FtB_Sample all, alone;
        for (int t = 0; t < SEEDS; t++) {
            seeds[t] = rng_below(&r, N); /* also again */
            until[t] = 3 + rng_below(&r, 8);
        }
        FtB_Sample_options o = {.size = sizeof o,
                                .selector = selectors[c % 3],
                                .iterations = c % 3 == 0 ? 2 : 0,
                                .seed = rng_bits(&r) | 1,
                                .batch = c,
                                .once = c / 3 % 2,
                                .edges = true,
                                .disjoint = true};
        if (c % 2) {
            o.times = FtB_Ids_of(g->time, g->nvals);
            o.until = FtB_Ids_of(until, SEEDS);
        }
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 4));
        assert_ok(FtB_sample(&all, g->A, seeds, SEEDS, fanouts, 3, &o));
        for (int t = 0; t < SEEDS; t++) {
            FtB_Sample_options one = o;
            if (c % 2)
                one.until = FtB_Ids_of(until + t, 1);
            assert_ok(FtB_sample(&alone, g->A, seeds + t, 1, fanouts, 3, &one));
            for (int h = 0; h < 3; h++) {
                const int64_t count = tree_of(edges[0], values[0], all, h, t);
                assert_int_equal(count, tree_of(edges[1], values[1], alone, h, 0));
                assert_memory_equal(edges[0], edges[1], sizeof **edges * (size_t)count);
                assert_memory_equal(values[0], values[1], sizeof **values * (size_t)count);
            }
            FtB_Sample_free(&alone);
        }
        FtB_Sample_free(&all);
        FtB_Matrix_free(&g->A);
        free(g);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

static GrB_Info filter_once(void *arg)
{
    const graph *g = arg;
    static const int64_t seeds[] = {4, 8, 4};
    static const int64_t fanouts[] = {3, 4};
    for (int k = 0; k < 3; k++) {
        FtB_Sample s;
        const GrB_Info info =
            FtB_sample(&s, g->A, seeds, 3, fanouts, 2,
                       FTB_SAMPLE_OPTIONS(.selector = selectors[k], .iterations = k == 0, .disjoint = true,
                                          .exclude = FtB_Ids_of(g->out, g->nout)));
        FtB_Sample_free(&s);
        if (info != GrB_SUCCESS)
            return info;
    }
    return GrB_SUCCESS;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_case(4);
    graph *g = make_graph(&r, 0.1, false);
    assert_ok(filter_once(g)); /* A keeps sums of columns */
    fail_every_allocation(filter_once, NULL, g);
    FtB_Matrix_free(&g->A);
    free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filtered),
        cmocka_unit_test(long_row),
        cmocka_unit_test(means),
        cmocka_unit_test(trees),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
