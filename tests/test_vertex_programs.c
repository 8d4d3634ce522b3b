/* The programs that come with the library, against slow ones in wider arithmetic: breadth-first search,
 * shortest paths with their negative cycles, components. Self-loops, parallel entries, NaN,
 * vertices without entries, no vertices; what is refused; allocations that fail. */
#include "support/check.h"

#include "featblas_vertex.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 60, ENTRIES = 300, SOURCES = 3 };

typedef struct graph {
    FtB_Matrix A;
    int64_t n, nvals, from[ENTRIES], to[ENTRIES];
    double w[ENTRIES];
} graph;

/* low: the least value of an entry; whole ones add up exactly. */
static graph make_graph(rng *r, bool keep, int64_t width, double low, bool whole)
{
    graph g = {.n = 1 + rng_below(r, MOST)};
    int64_t tuples = rng_below(r, 4 * g.n + 1), at = 0;
    for (int64_t e = 0; e < tuples; e++) {
        g.from[e] = rng_below(r, 1 + rng_below(r, g.n));
        g.to[e] = rng_below(r, g.n);
        g.w[e] = low + (10 - low) * rng_unit(r);
        g.w[e] = width == 0 ? 1 : whole ? floor(g.w[e]) : g.w[e];
    }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP64, g.n, g.n, width, tuples, g.from, g.to, width ? g.w : NULL,
                               keep ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
    const int64_t *rowptr;
    const void *colidx, *values;
    assert_ok(FtB_Matrix_csr(g.A, &rowptr, &colidx, &values));
    for (int64_t i = 0; i < g.n; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++, at++) {
            g.from[at] = i;
            g.to[at] = ((const int32_t *)colidx)[e];
            g.w[at] = width ? ((const double *)values)[e] : 1;
        }
    g.nvals = at;
    return g;
}

/* ---- slowly */

/* Whether sums are still falling after as many rounds as there are vertices: a negative cycle. */
static bool slow_paths(const graph *g, int64_t source, long double *dist, bool hops)
{
    bool more = true;
    for (int64_t v = 0; v < g->n; v++)
        dist[v] = v == source ? 0 : (long double)INFINITY;
    for (int64_t round = 0; round <= g->n && more; round++) {
        more = false;
        for (int64_t e = 0; e < g->nvals; e++) {
            const long double sum = dist[g->from[e]] + (hops ? 1 : g->w[e]);
            if (sum < dist[g->to[e]]) {
                dist[g->to[e]] = sum;
                more = true;
            }
        }
    }
    return more;
}

static void search(void **state)
{
    (void)state;
    static const FtB_Type types[] = {FTB_INT32, FTB_INT64, FTB_FP64};
    const int cases = rng_cases(300);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        const FtB_Type type = types[c % 3];
        graph g = make_graph(&r, c % 2, c % 5 > 0, -5, false);
        const int64_t k = rng_below(&r, SOURCES + 1);
        int64_t sources[SOURCES + 1];
        FtB_Block L, P, only;
        for (int64_t s = 0; s < k; s++)
            sources[s] = rng_below(&r, g.n);
        assert_ok(FtB_Block_new(&L, g.n, k, type));
        assert_ok(FtB_Block_new(&only, g.n, k, type));
        assert_ok(FtB_Block_new(&P, g.n, k, FTB_INT64));
        assert_ok(FtB_bfs(L, P, g.A, sources, k, FTB_RUN_OPTIONS(.way = (FtB_Way)(c % 3))));
        assert_ok(FtB_bfs(only, NULL, g.A, sources, k, NULL));
        const int64_t *parent = block_values(P);
        assert_memory_equal(block_values(only), block_values(L), (size_t)(g.n * k) * FtB_Type_size(type));
        for (int64_t s = 0; s < k; s++) {
            long double hops[MOST];
            slow_paths(&g, sources[s], hops, true);
            for (int64_t v = 0; v < g.n; v++) {
                int64_t least = isinf(hops[v]) ? -1 : v;
                for (int64_t e = g.nvals - 1; e >= 0 && v != sources[s]; e--)
                    if (g.to[e] == v && hops[g.from[e]] + 1 == hops[v] && !isinf(hops[v]))
                        least = g.from[e];
                const int64_t at = v * k + s;
                const double level = type == FTB_INT32   ? ((const int32_t *)block_values(L))[at]
                                     : type == FTB_INT64 ? (double)((const int64_t *)block_values(L))[at]
                                                         : ((const double *)block_values(L))[at];
                assert_true(level == (isinf(hops[v]) ? -1 : (double)hops[v]));
                assert_int_equal(parent[at], least);
            }
        }
        FtB_Block_free(&L);
        FtB_Block_free(&P);
        FtB_Block_free(&only);
        FtB_Matrix_free(&g.A);
    }
}

/* The cycle that the message names is one of the graph's, and negative. */
static void check_cycle(const graph *g, const char *message)
{
    const char *at = strstr(message, "the cycle ");
    long double sum = 0;
    assert_non_null(at);
    char *end;
    const int64_t first = strtol(at + strlen("the cycle "), &end, 10);
    int64_t from = first, steps = 0;
    for (; strncmp(end, " -> ", 4) == 0 && end[4] != '.'; steps++) {
        const int64_t to = strtol(end + 4, &end, 10);
        double least = INFINITY;
        for (int64_t e = 0; e < g->nvals; e++)
            if (g->from[e] == from && g->to[e] == to && g->w[e] < least)
                least = g->w[e];
        assert_true(least < INFINITY);
        sum += least;
        from = to;
    }
    if (strncmp(end, " -> ...", 7) == 0)
        return; /* longer than a message */
    assert_int_equal(from, first);
    assert_true(steps > 0 && sum < 0);
}

static void paths(void **state)
{
    (void)state;
    int negative = 0, settled = 0;
    const int cases = rng_cases(400);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        const bool whole = c % 2;
        graph g = make_graph(&r, c % 3 == 0, c % 7 > 0, c % 4 == 0 ? -1.5 : 0, whole);
        const int64_t k = 1 + rng_below(&r, SOURCES);
        int64_t sources[SOURCES];
        long double expected[SOURCES][MOST];
        bool cycle = false;
        FtB_Block D;
        for (int64_t s = 0; s < k; s++) {
            sources[s] = rng_below(&r, g.n);
            cycle = slow_paths(&g, sources[s], expected[s], false) || cycle;
        }
        assert_ok(FtB_Block_new(&D, g.n, k, whole && c % 4 == 1 ? FTB_FP32 : FTB_FP64));
        const FtB_Run_options o = {.size = sizeof o, .way = (FtB_Way)(c % 3)};
        if (cycle) {
            assert_fails(GrB_INVALID_VALUE, "of negative length, and is reached from source",
                         FtB_sssp(D, g.A, sources, k, &o));
            check_cycle(&g, FtB_error());
        } else
            assert_ok(FtB_sssp(D, g.A, sources, k, &o));
        negative += cycle;
        settled += !cycle && c % 4 == 0 && g.nvals > 20;
        for (int64_t t = 0; t < g.n * k && !cycle; t++) {
            const double got = whole && c % 4 == 1 ? ((const float *)block_values(D))[t]
                                                   : ((const double *)block_values(D))[t];
            const double want = (double)expected[t % k][t / k];
            assert_true(got == want || (!whole && fabs(got - want) <= 1e-12 * (1 + fabs(want))));
        }
        FtB_Block_free(&D);
        FtB_Matrix_free(&g.A);
    }
    if (cases >= 400)
        assert_true(negative > 10 && settled > 10);
}

/* A long path into a cycle of little less than no length: sums fall for ever, and slowly. */
static void far_cycle(void **state)
{
    (void)state;
    enum { N = 500 };
    int64_t I[N + 1], J[N + 1];
    double X[N + 1];
    FtB_Matrix A;
    FtB_Block D;
    const int64_t source = 0;
    for (int64_t e = 0; e < N; e++) {
        I[e] = e;
        J[e] = e + 1 < N ? e + 1 : N - 3;
        X[e] = e < N - 3 ? 1 : e < N - 1 ? 2 : -4.001;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 1, N, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&D, N, 1, FTB_FP64));
    assert_fails(GrB_INVALID_VALUE, "A: the cycle 497 -> 498 -> 499 -> 497 is of negative length",
                 FtB_sssp(D, A, &source, 1, NULL));
    assert_ok(FtB_sssp(D, A, &source, 1, FTB_RUN_OPTIONS(.rounds = 60)));
    assert_true(((const double *)block_values(D))[60] == 60 && isinf(((const double *)block_values(D))[61]));
    FtB_Matrix_free(&A);
    /* NaN is no edge; infinite ones are none worth taking. */
    X[1] = NAN;
    X[2] = INFINITY;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 1, N, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_sssp(D, A, &source, 1, NULL));
    assert_true(((const double *)block_values(D))[1] == 1 && isinf(((const double *)block_values(D))[2]));
    FtB_Matrix_free(&A);
    FtB_Block_free(&D);
}

static void components(void **state)
{
    (void)state;
    const int cases = rng_cases(200);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, c % 2, c % 3 > 0, -5, false);
        int64_t label[MOST];
        FtB_Block L;
        for (int64_t v = 0; v < g.n; v++)
            label[v] = v;
        for (int64_t round = 0; round < g.n; round++)
            for (int64_t e = 0; e < g.nvals; e++) {
                int64_t *a = &label[g.from[e]], *b = &label[g.to[e]];
                *a = *b = *a < *b ? *a : *b;
            }
        assert_ok(FtB_Block_new(&L, g.n, 1, c % 2 ? FTB_INT32 : FTB_INT64));
        assert_ok(FtB_components(L, g.A, FTB_RUN_OPTIONS(.way = (FtB_Way)(c % 3))));
        for (int64_t v = 0; v < g.n; v++)
            assert_int_equal(c % 2 ? ((const int32_t *)block_values(L))[v]
                                   : ((const int64_t *)block_values(L))[v],
                             label[v]);
        FtB_Block_free(&L);
        FtB_Matrix_free(&g.A);
    }
}

/* ---- what is refused, and nothing */

static void refused(void **state)
{
    (void)state;
    FtB_Matrix A, none, wide, two;
    FtB_Block d, i, p, s, empty, flat;
    const int64_t sources[] = {0, 4}, zero = 0;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 3, 3, 1));
    assert_ok(FtB_Matrix_new(&none, FTB_FP32, 0, 0, 1));
    assert_ok(FtB_Matrix_new(&wide, FTB_FP32, 3, 4, 1));
    assert_ok(FtB_Matrix_new(&two, FTB_FP32, 3, 3, 2));
    assert_ok(FtB_Block_new(&d, 3, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&i, 3, 2, FTB_INT32));
    assert_ok(FtB_Block_new(&p, 3, 2, FTB_INT64));
    assert_ok(FtB_Block_new(&s, 3, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&empty, 0, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&flat, 3, 0, FTB_FP64));
    assert_fails(GrB_NULL_POINTER, "levels is NULL", FtB_bfs(NULL, NULL, A, sources, 2, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_bfs(i, NULL, NULL, sources, 2, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 3 x 4", FtB_bfs(i, NULL, wide, sources, 2, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "levels is 3 x 2; expected 3 x 1",
                 FtB_bfs(i, NULL, A, sources, 1, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "levels: dtype fp32", FtB_bfs(d, NULL, A, sources, 2, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "parents: dtype int32", FtB_bfs(i, i, A, sources, 2, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "sources[1] is 4; expected 0 to 2",
                 FtB_bfs(i, p, A, sources, 2, NULL));
    assert_fails(GrB_NULL_POINTER, "sources is NULL", FtB_sssp(d, A, NULL, 2, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 2 values", FtB_sssp(d, two, sources, 2, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "dist: dtype int32", FtB_sssp(i, A, sources, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "start is given",
                 FtB_sssp(s, A, &zero, 1, FTB_RUN_OPTIONS(.start = {&zero, 1})));
    assert_fails(GrB_DOMAIN_MISMATCH, "labels: dtype fp32", FtB_components(s, A, NULL));
    assert_ok(FtB_sssp(empty, none, &zero, 0, NULL) == GrB_DIMENSION_MISMATCH ? GrB_SUCCESS
                                                                              : GrB_INVALID_VALUE);
    assert_ok(FtB_sssp(flat, A, NULL, 0, NULL));
    FtB_Block *const blocks[] = {&d, &i, &p, &s, &empty, &flat};
    for (int b = 0; b < 6; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&none);
    FtB_Matrix_free(&wide);
    FtB_Matrix_free(&two);
}

static GrB_Info all_programs(void *arg)
{
    (void)arg;
    static const int64_t I[] = {0, 1, 2, 2}, J[] = {1, 2, 0, 3}, source = 1;
    static const double X[] = {1, 2, 3, 4};
    FtB_Matrix A = NULL;
    FtB_Block d = NULL, p = NULL;
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP64, 4, 4, 1, 4, I, J, X, FTB_DUP_SUM, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&d, 4, 1, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&p, 4, 1, FTB_INT64);
    if (info == GrB_SUCCESS)
        info = FtB_bfs(d, p, A, &source, 1, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_sssp(d, A, &source, 1, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_components(p, A, NULL);
    FtB_Block_free(&d);
    FtB_Block_free(&p);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    fail_every_allocation(all_programs, NULL, NULL);
}

/* As many rounds as there are numbers; and of nothing to do it is said, too, that it took no superstep. */
static void supersteps(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 1, 2}, J[] = {1, 2, 0};
    int64_t steps = -1;
    FtB_Matrix A, none;
    FtB_Block R, empty, narrow;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 3, 3, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&none, FTB_FP64, 0, 0, 0));
    assert_ok(FtB_Block_new(&R, 3, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&empty, 0, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&narrow, 3, 0, FTB_FP64));
    steps = -1;
    assert_ok(FtB_bfs(narrow, NULL, A, NULL, 0, FTB_RUN_OPTIONS(.supersteps = &steps)));
    assert_int_equal(steps, 0);
    steps = -1;
    assert_ok(FtB_sssp(narrow, A, NULL, 0, FTB_RUN_OPTIONS(.supersteps = &steps)));
    assert_int_equal(steps, 0);
    FtB_Block_free(&narrow);
    FtB_Block_free(&empty);
    FtB_Block_free(&R);
    FtB_Matrix_free(&none);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(search),     cmocka_unit_test(paths),
                                       cmocka_unit_test(far_cycle),  cmocka_unit_test(components),
                                       cmocka_unit_test(refused),    cmocka_unit_test(supersteps),
                                       cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
