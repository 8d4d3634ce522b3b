/* Batches that are stacked and sampled in one call, by all selectors, bit for bit as one at a time; picks of
 * the rows of a product Q A, which is not made where Q names rows. */
#include "support/check.h"

#include "core/core.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdlib.h>
#include <string.h>

static FtB_Matrix make_graph(rng *r, int64_t n, int64_t degree)
{
    const int64_t nvals = n * degree;
    int64_t *I = malloc(sizeof *I * (size_t)(nvals + 1)), *J = malloc(sizeof *J * (size_t)(nvals + 1));
    double *X = malloc(sizeof *X * (size_t)(nvals + 1));
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = rng_below(r, 1 + rng_below(r, n));
        J[e] = rng_below(r, n);
        X[e] = 0.1 + rng_unit(r);
    }
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, n, n, 1, nvals, I, J, X, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

static void same_list(FtB_Ids a, FtB_Ids b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at, b.at, sizeof *a.at * (size_t)a.count);
}

static void same_matrix(FtB_Matrix A, FtB_Matrix B)
{
    int64_t m, n, o, p, width, w;
    const int64_t *a, *b;
    const void *c, *d, *x, *y;
    assert_ok(FtB_Matrix_shape(A, &m, &n, NULL, &width, NULL));
    assert_ok(FtB_Matrix_shape(B, &o, &p, NULL, &w, NULL));
    assert_true(m == o && n == p && width == w);
    assert_ok(FtB_Matrix_csr(A, &a, &c, &x));
    assert_ok(FtB_Matrix_csr(B, &b, &d, &y));
    assert_memory_equal(a, b, sizeof *a * (size_t)(m + 1));
    assert_memory_equal(c, d, sizeof(int32_t) * (size_t)a[m]);
    assert_true(!x == !y);
    if (x)
        assert_memory_equal(x, y, sizeof(double) * (size_t)(a[m] * width));
}

static void same_sample(FtB_Sample a, FtB_Sample b, int nhops)
{
    same_list(FtB_Sample_vertices(a), FtB_Sample_vertices(b));
    same_list(FtB_Sample_vertex_counts(a), FtB_Sample_vertex_counts(b));
    same_list(FtB_Sample_edge_counts(a), FtB_Sample_edge_counts(b));
    same_list(FtB_Sample_induced_edges(a), FtB_Sample_induced_edges(b));
    assert_true(!FtB_Sample_trees(a) == !FtB_Sample_trees(b));
    if (FtB_Sample_trees(a))
        assert_memory_equal(FtB_Sample_trees(a), FtB_Sample_trees(b),
                            sizeof(int32_t) * (size_t)FtB_Sample_vertices(a).count);
    for (int h = 0; h < nhops; h++) {
        same_matrix(FtB_Sample_layer(a, h), FtB_Sample_layer(b, h));
        same_list(FtB_Sample_edges(a, h), FtB_Sample_edges(b, h));
    }
    assert_true(!FtB_Sample_induced(a) == !FtB_Sample_induced(b));
    if (FtB_Sample_induced(a))
        same_matrix(FtB_Sample_induced(a), FtB_Sample_induced(b));
}

/* Each part of a stack is what its batch is by itself. */
static void check_parts(FtB_Sample bulk, FtB_Matrix A, const int64_t *seeds, int64_t nseeds,
                        const int64_t *fanouts, int nhops, const FtB_Sample_options *o)
{
    FtB_Sample parts[60] = {NULL}, alone;
    const int nbatches = (int)((nseeds + o->stack - 1) / o->stack);
    assert_non_null(FtB_Sample_trees(bulk));
    assert_ok(FtB_Sample_split(parts, bulk));
    for (int b = 0; b < nbatches; b++) {
        FtB_Sample_options one = *o;
        const int64_t first = b * o->stack, rest = nseeds - first, count = rest < o->stack ? rest : o->stack;
        one.stack = 0;
        one.batch += b;
        if (o->until.at)
            one.until = FtB_Ids_of((const int64_t *)o->until.at + first, count);
        assert_ok(FtB_sample(&alone, A, seeds + first, count, fanouts, nhops, &one));
        same_sample(parts[b], alone, nhops);
        FtB_Sample_free(&alone);
        FtB_Sample_free(&parts[b]);
    }
}

static void stacked_case(rng *r, int number)
{
    static const int64_t some[] = {0, 1, 2, 5, 10, 70, -1};
    static const FtB_Selector selectors[] = {
        FTB_SAMPLE_DEFAULT,   FTB_SAMPLE_WEIGHTED, FTB_SAMPLE_LABOR,  FTB_SAMPLE_UNIFORM, FTB_SAMPLE_TOPK,
        FTB_SAMPLE_BERNOULLI, FTB_SAMPLE_LABOR,    FTB_SAMPLE_LADIES, FTB_SAMPLE_FASTGCN, FTB_SAMPLE_LAST};
    enum { SELECTORS = sizeof selectors / sizeof *selectors };
    FtB_Matrix A = make_graph(r, 1 + rng_below(r, 120), 1 + rng_below(r, 9));
    int64_t n, seeds[60], fanouts[3], exclude[5], until[60], nvals;
    assert_ok(FtB_Matrix_shape(A, &n, NULL, &nvals, NULL, NULL));
    const int64_t nseeds = rng_below(r, 60), stack = 1 + rng_below(r, 20);
    const int nhops = (int)rng_below(r, 4);
    const int kind = number % SELECTORS;
    const FtB_Selector selector = selectors[kind];
    const bool weights = kind == 1 || kind == 4 || kind == 5 || (kind >= 7 && kind < 9 && rng_below(r, 2)),
               once = rng_below(r, 2), last = selector == FTB_SAMPLE_LAST;
    int64_t *times = malloc(sizeof *times * (size_t)(nvals + 1));
    FtB_Sample_options o = {.size = sizeof o,
                            .selector = selector,
                            .key = weights ? "x / 2" : NULL,
                            .iterations = kind == 6 ? 1 + (int)rng_below(r, 3) : 0,
                            .disjoint = last || rng_below(r, 3) == 0,
                            .seed = rng_bits(r) | 1,
                            .batch = rng_below(r, 4) ? rng_below(r, 100) : (INT64_C(1) << 32) - 2,
                            .stack = stack,
                            .replace = selector <= FTB_SAMPLE_WEIGHTED && rng_below(r, 3) == 0,
                            .once = once,
                            .self = rng_below(r, 3) == 0,
                            .structural = rng_below(r, 3) == 0,
                            .edges = true,
                            .induced = rng_below(r, 2)};
    for (int64_t t = 0; t < nseeds; t++)
        seeds[t] = rng_below(r, n);
    for (int64_t t = 0; t < nseeds; t++)
        until[t] = 2 + rng_below(r, 20);
    for (int64_t e = 0; e < nvals; e++)
        times[e] = rng_below(r, 20);
    if (last || (o.disjoint && rng_below(r, 2))) {
        o.times = FtB_Ids_of(times, nvals);
        o.until = FtB_Ids_of(until, nseeds);
    }
    for (int64_t t = 0; t < 5; t++)
        exclude[t] = rng_below(r, nvals);
    if (rng_below(r, 3) == 0)
        o.exclude = FtB_Ids_of(exclude, 5);
    for (int h = 0; h < nhops; h++)
        do
            fanouts[h] = kind == 5 ? -1 : some[rng_below(r, 7)];
        while ((o.replace && (fanouts[h] < 0 || fanouts[h] > 10)) ||
               (fanouts[h] < 0 && (kind == 7 || kind == 8)));
    FtB_Sample bulk;
    assert_ok(FtB_sample(&bulk, A, seeds, nseeds, fanouts, nhops, &o));
    check_parts(bulk, A, seeds, nseeds, fanouts, nhops, &o);
    FtB_Sample_free(&bulk);
    FtB_Matrix_free(&A);
    free(times);
}

static void stacked(void **state)
{
    (void)state;
    const int cases = rng_cases(400);
    for (int t = 0; t < cases; t++) {
        rng r = rng_case(t);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 8));
        stacked_case(&r, t);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* A row of Q with one entry is a row of A, whose product is not made: no more memory than for a list. */
static void named_rows(void **state)
{
    (void)state;
    enum { HUB = 200000, ROWS = 64 };
    static const double ones[ROWS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t *rowptr = malloc(sizeof *rowptr * 5), I[ROWS], rows[ROWS], now, peak;
    int32_t *column = malloc(sizeof *column * 2 * HUB);
    for (int64_t e = 0; e < 2 * HUB; e++)
        column[e] = (int32_t)(e % HUB);
    for (int64_t i = 0; i < 5; i++)
        rowptr[i] = i < 2 ? 0 : i < 4 ? HUB : 2 * HUB; /* rows 1 and 3 are hubs */
    for (int64_t r = 0; r < ROWS; r++) {
        I[r] = r;
        rows[r] = 2 * (r % 2) + 1;
    }
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    for (int width = 0; width < 2; width++) {
        FtB_Matrix A, Q, S, T, E;
        assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP64, 4, HUB, 0, rowptr, column, NULL));
        assert_ok(FtB_Matrix_build(&Q, FTB_FP64, ROWS, 4, width, ROWS, I, rows, width ? ones : NULL,
                                   FTB_DUP_ERROR, NULL));
        assert_ok(FtB_Matrix_new(&S, FTB_FP64, ROWS, HUB, 0));
        assert_ok(FtB_Matrix_new(&T, FTB_FP64, ROWS, HUB, 0));
        assert_ok(FtB_Matrix_new(&E, FTB_INT64, ROWS, HUB, 1));
        assert_ok(FtB_Context_memory(ctx, &now, NULL));
        assert_ok(FtB_select_sample(S, Q, 5, NULL, A, FTB_SELECT_OPTIONS(.seed = 3, .edges = E)));
        assert_ok(FtB_Context_memory(ctx, NULL, &peak));
        assert_true(peak - now < 100000); /* the product has 12.8 million entries */
        assert_ok(FtB_select_sample(T, FtB_Ids_of(rows, ROWS), 5, NULL, A, FTB_SELECT_OPTIONS(.seed = 3)));
        same_matrix(S, T);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&Q);
        FtB_Matrix_free(&S);
        FtB_Matrix_free(&T);
        FtB_Matrix_free(&E);
    }
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    free(rowptr);
    free(column);
}

/* Else picks are those of the product's rows. */
static void added_rows(void **state)
{
    (void)state;
    for (int c = 0; c < 30; c++) {
        rng r = rng_case(c);
        FtB_Matrix A = make_graph(&r, 30, 4), Q = make_graph(&r, 30, 1 + c % 3), P, S, T;
        const char *key = c % 2 ? "x" : NULL;
        if (c % 4 >= 2) { /* two ones in each row of Q, which adds rows up all the same */
            int64_t I[60], J[60];
            for (int64_t e = 0; e < 60; e++) {
                I[e] = e / 2;
                J[e] = (e / 2 * 7 + e % 2) % 30;
            }
            FtB_Matrix_free(&Q);
            assert_ok(FtB_Matrix_build(&Q, FTB_FP64, 30, 30, 0, 60, I, J, NULL, FTB_DUP_ERROR, NULL));
        }
        assert_ok(FtB_Matrix_new(&P, FTB_FP64, 30, 30, 1));
        assert_ok(FtB_Matrix_new(&S, FTB_FP64, 30, 30, 1));
        assert_ok(FtB_Matrix_new(&T, FTB_FP64, 30, 30, 1));
        assert_ok(FtB_mxm(P, NULL, NULL, "plus : a * b", Q, A, NULL));
        assert_ok(FtB_select_sample(S, Q, 3, key, A, FTB_SELECT_OPTIONS(.seed = 8)));
        assert_ok(FtB_select_sample(T, NULL, 3, key, P, FTB_SELECT_OPTIONS(.seed = 8)));
        same_matrix(S, T);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&Q);
        FtB_Matrix_free(&P);
        FtB_Matrix_free(&S);
        FtB_Matrix_free(&T);
    }
}

static void refused(void **state)
{
    (void)state;
    static const int64_t seeds[] = {0, 1}, fanouts[] = {2}, first[] = {0};
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 4, 4, 1, 0.9), Q = rng_matrix(&r, FTB_FP64, 3, 4, 1, 1), W, S, E;
    FtB_Sample s, parts[2];
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, 3, 4, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, 3, 4, 1));
    assert_ok(FtB_Matrix_new(&W, FTB_FP64, 3, 5, 1));
#define SAMPLE(...) FtB_sample(&s, A, seeds, 2, fanouts, 1, FTB_SAMPLE_OPTIONS(__VA_ARGS__))
    assert_fails(GrB_INVALID_VALUE, "stack is -1", SAMPLE(.stack = -1));
    /* what is wrong with one of many batches is said, whatever thread saw it */
    static const int64_t many[64] = {0};
    assert_ok(FtB_Context_set_threads(NULL, 4));
    assert_fails(GrB_INVALID_VALUE, "squares of the weights of a hop's rows have the sum 0",
                 FtB_sample(&s, A, many, 64, fanouts, 1,
                            FTB_SAMPLE_OPTIONS(.stack = 1, .selector = FTB_SAMPLE_LADIES, .key = "x * 0")));
    assert_ok(FtB_Context_set_threads(NULL, 0));
    assert_fails(GrB_NULL_POINTER, "samples is NULL", FtB_Sample_split(NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "stacked is no FtB_Sample", FtB_Sample_split(parts, NULL));
    assert_ok(SAMPLE(.seed = 1));
    assert_fails(GrB_INVALID_VALUE, "stacked is one batch", FtB_Sample_split(parts, s));
    FtB_Sample_free(&s);
    assert_ok(SAMPLE(.stack = 1, .batch = INT64_MAX)); /* numbers go on behind it */
    FtB_Sample_free(&s);
    assert_ok(SAMPLE(.stack = INT64_MAX)); /* one batch of all */
    assert_ok(FtB_Sample_split(parts, s));
    assert_int_equal(FtB_Sample_vertex_counts(parts[0]).at[0], 2);
    FtB_Sample_free(&parts[0]);
    FtB_Sample_free(&s);
    assert_fails(GrB_DIMENSION_MISMATCH, "rows is 3 x 5 and A 4 x 4",
                 FtB_select_sample(S, W, 1, NULL, A, NULL));
    assert_fails(GrB_INVALID_VALUE, "edges, times and exclude are of A's entries",
                 FtB_select_sample(S, Q, 1, NULL, A, FTB_SELECT_OPTIONS(.edges = E)));
    assert_fails(GrB_INVALID_VALUE, "edges, times and exclude are of A's entries",
                 FtB_select_sample(S, Q, 1, NULL, A, FTB_SELECT_OPTIONS(.exclude = FtB_Ids_of(first, 1))));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&Q);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&E);
}

static GrB_Info stack_once(void *arg)
{
    static const int64_t seeds[] = {1, 5, 1, 7}, fanouts[] = {3, 2};
    FtB_Sample s, parts[2];
    memset(parts, 0xff, sizeof parts); /* what they hold before does not count */
    GrB_Info info = FtB_sample(&s, arg, seeds, 4, fanouts, 2,
                               FTB_SAMPLE_OPTIONS(.stack = 3, .edges = true, .induced = true, .once = true));
    if (info != GrB_SUCCESS)
        return info;
    info = FtB_Sample_split(parts, s);
    for (int b = 0; b < 2; b++) {
        assert_true(info == GrB_SUCCESS || !parts[b]);
        FtB_Sample_free(&parts[b]);
    }
    FtB_Sample_free(&s);
    return info;
}

static GrB_Info stack_layers_once(void *arg)
{
    static const int64_t seeds[] = {1, 5, 1, 7}, fanouts[] = {3, 2};
    static const FtB_Selector selectors[] = {FTB_SAMPLE_LADIES, FTB_SAMPLE_FASTGCN, FTB_SAMPLE_LABOR};
    for (int k = 0; k < 3; k++) {
        FtB_Sample s, parts[2];
        GrB_Info info = FtB_sample(&s, arg, seeds, 4, fanouts, 2,
                                   FTB_SAMPLE_OPTIONS(.stack = 2, .selector = selectors[k],
                                                      .disjoint = k != 1, .iterations = k == 2));
        if (info == GrB_SUCCESS)
            info = FtB_Sample_split(parts, s);
        for (int b = 0; b < 2 && info == GrB_SUCCESS; b++)
            FtB_Sample_free(&parts[b]);
        FtB_Sample_free(&s);
        if (info != GrB_SUCCESS)
            return info;
    }
    return GrB_SUCCESS;
}

static GrB_Info multiply_once(void *arg)
{
    FtB_Matrix A = arg, S;
    GrB_Info info = FtB_Matrix_new(&S, FTB_FP64, 20, 20, 1);
    if (info == GrB_SUCCESS)
        info = FtB_select_sample(S, A, 2, "x", A, NULL);
    FtB_Matrix_free(&S);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = make_graph(&r, 40, 5), B = make_graph(&r, 20, 5);
    fail_every_allocation(stack_once, NULL, A);
    assert_ok(stack_layers_once(A)); /* A keeps sums of columns */
    fail_every_allocation(stack_layers_once, NULL, A);
    fail_every_allocation(multiply_once, NULL, B);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacked), cmocka_unit_test(named_rows),          cmocka_unit_test(added_rows),
        cmocka_unit_test(refused), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
