/* FtB_pinsage: layers against counts of the walks that FtB_walk makes with the same draws; how often a vertex
 * is picked, by a chi-square test that a right sampler with other seeds would fail once in a million times;
 * the same bits for all threads; what is refused. */
#include "support/check.h"

#include "ops/backends.h"
#include "oracle/ref_sample.h"
#include "support/chi_square.h"
#include "support/fail_alloc.h"
#include "support/pretend.h"
#include "support/rng.h"
#include "verbs/verbs.h"

#include <stdlib.h>

/* How often each vertex is visited from v, in `count`, which has n. */
static void visits_of(int64_t *count, int64_t n, FtB_Matrix A, int64_t v, int64_t length, int hop,
                      FtB_Walk_options o)
{
    FtB_Block W;
    int64_t nrows, ncols;
    o.seed = ref_mix(o.seed, (uint64_t)hop, UINT64_C(0xff000022) << 32);
    assert_ok(FtB_walk(&W, A, &v, 1, length, &o));
    assert_ok(FtB_Block_shape(W, &nrows, &ncols, NULL, NULL, NULL));
    memset(count, 0, sizeof *count * (size_t)n);
    const int64_t *walks = block_values(W);
    for (int64_t t = 0; t < nrows * ncols; t++)
        if (walks[t] >= 0 && walks[t] != v)
            count[walks[t]]++;
    FtB_Block_free(&W);
}

/* Whether x is among the k most visited: fewer than k have more visits, or as many and a lesser number. */
static bool stays(const int64_t *count, int64_t n, int64_t x, int64_t k)
{
    int64_t before = 0;
    for (int64_t y = 0; y < n; y++)
        before += count[y] > count[x] || (count[y] == count[x] && y < x);
    return count[x] > 0 && (k < 0 || before < k);
}

static void check_layer(FtB_Matrix A, int64_t n, FtB_Sample s, int hop, int64_t k, int64_t length,
                        const FtB_Walk_options *o)
{
    const int64_t *v = FtB_Sample_vertices(s).at, *rowptr;
    int64_t nrows, ncols, nvals, width;
    FtB_Type type;
    const void *column, *value;
    assert_ok(FtB_Matrix_shape(FtB_Sample_layer(s, hop), &nrows, &ncols, &nvals, &width, &type));
    assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, hop), &rowptr, &column, &value));
    assert_int_equal(width, 1);
    assert_int_equal(type, FTB_FP32);
    assert_int_equal(FtB_Sample_edge_counts(s).at[hop], nvals);
    int64_t *count = malloc(sizeof *count * (size_t)n);
    for (int64_t r = 0; r < nrows; r++) {
        int64_t expected = 0;
        visits_of(count, n, A, v[r], length, hop, *o);
        for (int64_t x = 0; x < n; x++)
            expected += stays(count, n, x, k);
        assert_int_equal(rowptr[r + 1] - rowptr[r], expected);
        for (int64_t e = rowptr[r]; e < rowptr[r + 1]; e++) {
            const int64_t c = ((const int32_t *)column)[e];
            assert_true(c >= 0 && c < ncols);
            assert_true(e == rowptr[r] || c > ((const int32_t *)column)[e - 1]);
            assert_true(stays(count, n, v[c], k));
            assert_true(((const float *)value)[e] == (float)count[v[c]]);
        }
    }
    free(count);
}

static void layers(void **state)
{
    (void)state;
    static const int64_t some[] = {0, 1, 2, 5, -1};
    const int cases = rng_cases(60);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        const int64_t n = 1 + rng_below(&r, 60), nseeds = rng_below(&r, 6), length = rng_below(&r, 5);
        int64_t seeds[6], fanouts[2] = {some[rng_below(&r, 5)], some[rng_below(&r, 5)]};
        FtB_Matrix A = rng_matrix(&r, FTB_FP32, n, n, 0, rng_unit(&r) * 0.2);
        const FtB_Walk_options o = {.size = sizeof o,
                                    .each = 1 + rng_below(&r, 8),
                                    .restart = rng_below(&r, 2) ? 0.3 : 0,
                                    .seed = rng_bits(&r) | 1,
                                    .batch = rng_below(&r, 9)};
        const int nhops = (int)rng_below(&r, 3);
        FtB_Sample s;
        for (int64_t t = 0; t < nseeds; t++)
            seeds[t] = rng_below(&r, n);
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
        assert_ok(FtB_pinsage(&s, A, seeds, nseeds, fanouts, nhops, length, &o));
        const FtB_Ids v = FtB_Sample_vertices(s), found = FtB_Sample_vertex_counts(s);
        int64_t known = nseeds;
        for (int64_t t = 0; t < nseeds; t++)
            assert_int_equal(v.at[t], seeds[t]);
        for (int h = 0; h < nhops; h++) {
            check_layer(A, n, s, h, fanouts[h], length, &o);
            for (int64_t t = known; t < known + found.at[h + 1]; t++) {
                assert_true(t == known || v.at[t] > v.at[t - 1]);
                for (int64_t b = 0; b < known; b++)
                    assert_int_not_equal(v.at[b], v.at[t]);
            }
            known += found.at[h + 1];
        }
        assert_int_equal(v.count, known);
        assert_int_equal(FtB_Sample_edges(s, 0).count, 0);
        FtB_Sample_free(&s);
        FtB_Matrix_free(&A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* One walk of one step: the neighbours of 0, all alike. */
static void chances(void **state)
{
    (void)state;
    enum { D = 5, BATCHES = 10000 };
    static const int64_t I[D] = {0, 0, 0, 0, 0}, J[D] = {1, 2, 3, 4, 5}, seed = 0, fanout = 1;
    const double chance[D] = {0.2, 0.2, 0.2, 0.2, 0.2};
    int64_t count[D] = {0};
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, D + 1, D + 1, 0, D, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (int64_t b = 0; b < BATCHES; b++) {
        FtB_Sample s;
        assert_ok(FtB_pinsage(&s, A, &seed, 1, &fanout, 1, 1, FTB_WALK_OPTIONS(.seed = 4, .batch = b)));
        assert_int_equal(FtB_Sample_vertices(s).count, 2);
        count[FtB_Sample_vertices(s).at[1] - 1]++;
        FtB_Sample_free(&s);
    }
    check_chances(count, chance, D, "neighbours");
    FtB_Matrix_free(&A);
}

static void threads(void **state)
{
    (void)state;
    enum { N = 2000, SEEDS = 500 };
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, N, N, 0, 0.005);
    const int64_t fanouts[] = {5, 3};
    int64_t seeds[SEEDS];
    FtB_Sample first = NULL;
    for (int64_t t = 0; t < SEEDS; t++)
        seeds[t] = t * 3;
    for (int t = 1; t <= 8; t++) {
        FtB_Sample s;
        assert_ok(FtB_Context_set_threads(NULL, t));
        assert_ok(FtB_pinsage(&s, A, seeds, SEEDS, fanouts, 2, 3,
                              FTB_WALK_OPTIONS(.each = 10, .restart = 0.2, .seed = 8)));
        if (t == 1) {
            first = s;
            continue;
        }
        const FtB_Ids v = FtB_Sample_vertices(first), w = FtB_Sample_vertices(s);
        assert_int_equal(v.count, w.count);
        assert_memory_equal(v.at, w.at, sizeof *v.at * (size_t)v.count);
        for (int h = 0; h < 2; h++) {
            const void *column[2], *value[2];
            const size_t count = (size_t)FtB_Sample_edge_counts(first).at[h];
            assert_int_equal(count, FtB_Sample_edge_counts(s).at[h]);
            assert_ok(FtB_Matrix_csr(FtB_Sample_layer(first, h), NULL, &column[0], &value[0]));
            assert_ok(FtB_Matrix_csr(FtB_Sample_layer(s, h), NULL, &column[1], &value[1]));
            assert_memory_equal(column[0], column[1], count * sizeof(int32_t));
            assert_memory_equal(value[0], value[1], count * sizeof(float));
        }
        FtB_Sample_free(&s);
    }
    FtB_Sample_free(&first);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&A);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 6, 6, 1, 0.9), R = rng_matrix(&r, FTB_FP32, 6, 7, 1, 0.5);
    const int64_t seeds[] = {0, 6}, fanouts[] = {1, -2};
    FtB_Sample s;
    assert_fails(GrB_NULL_POINTER, "sample is NULL", FtB_pinsage(NULL, A, seeds, 1, fanouts, 1, 2, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 6 x 7", FtB_pinsage(&s, R, seeds, 1, fanouts, 1, 2, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "seeds[1] is 6", FtB_pinsage(&s, A, seeds, 2, fanouts, 1, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "nseeds is -1", FtB_pinsage(&s, A, seeds, -1, fanouts, 1, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "fanouts[1] is -2", FtB_pinsage(&s, A, seeds, 1, fanouts, 2, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "nhops is -1", FtB_pinsage(&s, A, seeds, 1, fanouts, -1, 2, NULL));
    assert_fails(GrB_NULL_POINTER, "fanouts is NULL", FtB_pinsage(&s, A, seeds, 1, NULL, 1, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "length is -1", FtB_pinsage(&s, A, seeds, 1, fanouts, 1, -1, NULL));
    assert_fails(GrB_OUT_OF_MEMORY, "", FtB_pinsage(&s, A, seeds, 1, fanouts, 1, INT64_MAX, NULL));
    assert_fails(GrB_INVALID_VALUE, "restart is 2",
                 FtB_pinsage(&s, A, seeds, 1, fanouts, 1, 2, FTB_WALK_OPTIONS(.restart = 2)));
    assert_null(s);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&R);
}

static bool refuses(const ftb_relabel_product *p) { return !p; }

static GrB_Info not_asked(ftb_relabel_product *p)
{
    return ftb_fail(GrB_PANIC, "a device numbers %lld rows that it refused", (long long)p->nrows);
}

/* A device that cannot number what was visited is not told to. */
static void unfit_device(void **state)
{
    (void)state;
    static const ftb_verb_limits limits = {.relabel = refuses};
    static const ftb_verbs verbs = {.relabel = not_asked, .limits = &limits};
    static const int64_t seeds[] = {1, 5}, fanouts[] = {2, 2};
    ftb_backend unfit = pretend_device;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 30, 30, 0, 0.3);
    FtB_Sample s;
    unfit.name = "unfit";
    unfit.verbs = &verbs;
    ftb_backend_add(&unfit);
    assert_ok(FtB_Context_set_device(NULL, "unfit"));
    assert_ok(FtB_pinsage(&s, A, seeds, 2, fanouts, 2, 2, NULL));
    FtB_Sample_free(&s);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Context_set_device(NULL, NULL));
    ftb_backend_remove(&unfit);
}

static GrB_Info sample_once(void *arg)
{
    static const int64_t seeds[] = {1, 5, 1}, fanouts[] = {2, -1};
    FtB_Sample s;
    FtB_Matrix A;
    GrB_Info info = FtB_Matrix_dup(&A, *(FtB_Matrix *)arg); /* which keeps what is made of its values */
    if (info != GrB_SUCCESS)
        return info;
    info = FtB_pinsage(&s, A, seeds, 3, fanouts, 2, 2, FTB_WALK_OPTIONS(.each = 3, .key = "x + 9"));
    FtB_Matrix_free(&A);
    if (info != GrB_SUCCESS)
        assert_null(s);
    FtB_Sample_free(&s);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 30, 30, 1, 0.3);
    fail_every_allocation(sample_once, NULL, &A);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers),   cmocka_unit_test(chances),      cmocka_unit_test(threads),
        cmocka_unit_test(refusals), cmocka_unit_test(unfit_device), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
