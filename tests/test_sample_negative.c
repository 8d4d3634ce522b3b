/* FtB_sample_negative against slow loops with draws of their own: rows and all of a matrix, loops, parallel
 * entries, wide columns; chances of sets by chi-square; what is refused. */
#include "support/check.h"

#include "oracle/ref_sample.h"
#include "support/chi_square.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdlib.h>

typedef struct graph {
    FtB_Matrix A;
    int64_t nrows, ncols;
    bool *has; /* nrows x ncols: an entry */
} graph;

static graph make_graph(rng *r, int64_t nrows, int64_t ncols, int64_t count, bool multi)
{
    graph g = {.nrows = nrows, .ncols = ncols, .has = calloc((size_t)(nrows * ncols), 1)};
    int64_t *I = malloc(sizeof *I * (size_t)(count + 1)), *J = malloc(sizeof *J * (size_t)(count + 1));
    for (int64_t e = 0; e < count; e++) {
        I[e] = rng_below(r, 1 + rng_below(r, nrows));
        J[e] = rng_below(r, ncols);
        g.has[I[e] * ncols + J[e]] = true;
    }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP32, nrows, ncols, 0, count, I, J, NULL,
                               multi ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    return g;
}

static void free_graph(graph *g)
{
    FtB_Matrix_free(&g->A);
    free(g->has);
}

static uint64_t draw64(uint64_t seed, uint64_t vertex, uint64_t batch, int64_t d)
{
    uint32_t w[2][4];
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (uint32_t more = 0; more < 2; more++) {
        const uint32_t counter[4] = {(uint32_t)vertex, (uint32_t)(vertex >> 32), (uint32_t)batch,
                                     (uint32_t)(d / 4) | more << 23};
        ref_philox(w[more], counter, key);
    }
    return (uint64_t)w[0][d % 4] << 32 | w[1][d % 4];
}

/* Marks, of the `count` pairs in list, those that are picked: how often. */
static void pick(int *times, int64_t count, int64_t k, const FtB_Negative_options *o, uint64_t vertex)
{
    const uint64_t seed = ref_mix(o->seed, 0, UINT64_C(0xff000006) << 32);
    const int64_t some = o->replace ? (count > 0 ? k : 0) : k < count ? k : count;
    for (int64_t t = 0; t < some; t++) {
        const int64_t n = o->replace ? count : count - some + t + 1;
        const int64_t at =
            (int64_t)((unsigned __int128)draw64(seed, vertex, (uint64_t)o->batch, t) * (uint64_t)n >> 64);
        times[!o->replace && times[at] ? n - 1 : at]++;
    }
}

static bool counts(const graph *g, int64_t i, int64_t j, const FtB_Negative_options *o)
{
    return !g->has[i * g->ncols + j] && (i != j || o->loops || g->nrows != g->ncols);
}

/* The row of S that begins at *at has, for each of the pairs of row i that count, times[] of it. */
static int64_t check_row(const graph *g, int64_t i, const int *times, const int32_t *column,
                         const FtB_Negative_options *o, int64_t *at)
{
    int64_t pair = 0;
    for (int64_t j = 0; j < g->ncols; j++) {
        if (!counts(g, i, j, o))
            continue;
        for (int t = 0; t < times[pair]; t++)
            assert_int_equal(column[(*at)++], j);
        pair++;
    }
    return pair;
}

static void random_case(rng *r, int number)
{
    static const int64_t some[] = {0, 1, 2, 3, 5, 10, 40, 200};
    const int64_t nrows = 1 + rng_below(r, 40), ncols = rng_below(r, 3) ? nrows : 1 + rng_below(r, 60);
    graph g =
        make_graph(r, nrows, ncols, rng_below(r, 1 + nrows * ncols * (1 + number % 3)), number % 4 == 0);
    const FtB_Negative_options o = {.size = sizeof o,
                                    .seed = rng_bits(r) | 1,
                                    .batch = rng_below(r, 9),
                                    .replace = rng_below(r, 2),
                                    .loops = rng_below(r, 2),
                                    .global = rng_below(r, 2)};
    const int64_t k = some[rng_below(r, 8)];
    int64_t rows[50], count = o.global ? nrows : rng_below(r, 50), at = 0;
    for (int64_t t = 0; t < 50; t++)
        rows[t] = rng_below(r, nrows);
    FtB_Matrix S;
    const int64_t *rowptr;
    const void *column, *values;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, count, ncols, 1));
    if (o.global)
        assert_ok(FtB_sample_negative(S, NULL, k, g.A, &o));
    else
        assert_ok(FtB_sample_negative(S, FtB_Ids_of(rows, count), k, g.A, &o));
    assert_ok(FtB_Matrix_csr(S, &rowptr, &column, &values));
    assert_null(values);
    int *times = calloc((size_t)(nrows * ncols + 1), sizeof *times);
    if (o.global) {
        int64_t pairs = 0;
        for (int64_t p = 0; p < nrows * ncols; p++)
            pairs += counts(&g, p / ncols, p % ncols, &o);
        pick(times, pairs, k, &o, 0);
        for (int64_t i = 0, from = 0; i < nrows; i++) {
            from += check_row(&g, i, times + from, column, &o, &at);
            assert_int_equal(rowptr[i + 1], at);
        }
    }
    for (int64_t t = 0; !o.global && t < count; t++) {
        int64_t pairs = 0;
        for (int64_t j = 0; j < ncols; j++)
            pairs += counts(&g, rows[t], j, &o);
        memset(times, 0, sizeof *times * (size_t)(pairs + 1));
        pick(times, pairs, k, &o, (uint64_t)rows[t]);
        check_row(&g, rows[t], times, column, &o, &at);
        assert_int_equal(rowptr[t + 1], at);
    }
    free(times);
    FtB_Matrix_free(&S);
    free_graph(&g);
}

static void random_cases(void **state)
{
    (void)state;
    const int cases = rng_cases(800);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 8));
        random_case(&r, c);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Columns beyond 2^31: picks are none of the entries, and spread over all. */
static void wide(void **state)
{
    (void)state;
    enum { K = 1000 };
    const int64_t n = INT64_C(1) << 40, I[] = {0, 0, 2}, J[] = {5, n - 1, 7};
    FtB_Matrix A, S;
    const int64_t *rowptr;
    const void *column;
    double sum = 0;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 3, n, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 3, n, 0));
    for (int global = 0; global < 2; global++) {
        assert_ok(FtB_sample_negative(S, NULL, K, A, FTB_NEGATIVE_OPTIONS(.seed = 3, .global = global)));
        assert_ok(FtB_Matrix_csr(S, &rowptr, &column, NULL));
        assert_int_equal(rowptr[3], global ? K : 3 * K);
        sum = 0;
        for (int64_t e = 0; e < rowptr[3]; e++) {
            const int64_t j = ((const int64_t *)column)[e];
            assert_true(j >= 0 && j < n);
            sum += (double)j / (double)n;
        }
        assert_true(sum / (double)rowptr[3] > 0.45 && sum / (double)rowptr[3] < 0.55);
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

/* Pairs of pairs: of a row's five columns that count, and of six pairs of a matrix. */
static void chances(void **state)
{
    (void)state;
    enum { BATCHES = 20000, N = 3 };
    static const int64_t I[] = {0, 1, 2}, J[] = {1, 1, 0};
    FtB_Matrix A, S;
    int64_t count[N * N][N * N] = {{0}}, flat[N * N * N * N], pairs = 0;
    double chance[N * N * N * N] = {0};
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, N, N, 0));
    for (int64_t batch = 0; batch < BATCHES; batch++) {
        const int64_t *rowptr;
        const void *column;
        int two[2], at = 0;
        assert_ok(FtB_sample_negative(
            S, NULL, 2, A, FTB_NEGATIVE_OPTIONS(.seed = 12, .batch = batch, .global = true, .loops = true)));
        assert_ok(FtB_Matrix_csr(S, &rowptr, &column, NULL));
        assert_int_equal(rowptr[N], 2);
        for (int i = 0; i < N; i++)
            for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
                two[at++] = i * N + ((const int32_t *)column)[e];
        count[two[0]][two[1]]++;
    }
    for (int a = 0; a < N * N; a++)
        for (int b = a + 1; b < N * N; b++) {
            const bool both = a != 1 && a != 4 && a != 6 && b != 1 && b != 4 && b != 6;
            chance[a * N * N + b] = both;
            pairs += both;
        }
    for (int c = 0; c < N * N * N * N; c++) {
        chance[c] /= (double)pairs;
        flat[c] = count[c / (N * N)][c % (N * N)];
    }
    check_chances(flat, chance, N * N * N * N, "pairs of a matrix");
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

static void row_chances(void **state)
{
    (void)state;
    enum { ROWS = 20000, COLUMNS = 7 };
    int64_t *rowptr = malloc(sizeof *rowptr * (ROWS + 1)), count[COLUMNS * COLUMNS] = {0};
    int32_t *column = malloc(sizeof *column * ROWS * 2);
    double chance[COLUMNS * COLUMNS] = {0};
    FtB_Matrix A, S;
    const void *picked;
    for (int64_t i = 0; i <= ROWS; i++)
        rowptr[i] = 2 * i;
    for (int64_t e = 0; e < 2 * ROWS; e++)
        column[e] = e % 2 ? 4 : 1;
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, ROWS, COLUMNS, 0, rowptr, column, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, ROWS, COLUMNS, 0));
    assert_ok(FtB_sample_negative(S, NULL, 2, A, FTB_NEGATIVE_OPTIONS(.seed = 4)));
    assert_ok(FtB_Matrix_csr(S, NULL, &picked, NULL));
    for (int64_t i = 0; i < ROWS; i++)
        count[((const int32_t *)picked)[2 * i] * COLUMNS + ((const int32_t *)picked)[2 * i + 1]]++;
    for (int a = 0; a < COLUMNS; a++)
        for (int b = a + 1; b < COLUMNS; b++)
            chance[a * COLUMNS + b] = a != 1 && a != 4 && b != 1 && b != 4 ? 0.1 : 0;
    check_chances(count, chance, COLUMNS * COLUMNS, "pairs of a row");
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    free(rowptr);
    free(column);
}

static void refused(void **state)
{
    (void)state;
    static const int64_t rows[] = {0, 4};
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 6, 1, 0.5), S, T, H;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 4, 6, 1));
    assert_ok(FtB_Matrix_new(&T, FTB_FP32, 2, 6, 1));
    assert_ok(FtB_Matrix_new(&H, FTB_FP32, 1, INT64_C(1) << 62, 1));
    assert_fails(GrB_NULL_POINTER, "S is NULL", FtB_sample_negative(NULL, NULL, 1, A, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_sample_negative(S, NULL, 1, NULL, NULL));
    assert_fails(GrB_INVALID_VALUE, "k is -1; expected 0 or more", FtB_sample_negative(S, NULL, -1, A, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "rows[1] is 4; expected 0 to 3",
                 FtB_sample_negative(T, FtB_Ids_of(rows, 2), 1, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "S is 4 x 6; expected 1 x 6",
                 FtB_sample_negative(S, FtB_Ids_of(rows, 1), 1, A, NULL));
    assert_fails(GrB_INVALID_VALUE, "rows is given, and options: global",
                 FtB_sample_negative(T, FtB_Ids_of((const int64_t[]){0, 1}, 2), 1, A,
                                     FTB_NEGATIVE_OPTIONS(.global = true)));
    assert_fails(GrB_INVALID_VALUE, "batch is -3",
                 FtB_sample_negative(S, NULL, 1, A, FTB_NEGATIVE_OPTIONS(.batch = -3)));
    assert_fails(GrB_OUT_OF_MEMORY, "are too many",
                 FtB_sample_negative(S, NULL, INT64_MAX / 2, A, FTB_NEGATIVE_OPTIONS(.replace = true)));
    assert_fails(FTB_LIMIT, "expected less than 2^62 pairs", FtB_sample_negative(H, NULL, 1, H, NULL));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&T);
    FtB_Matrix_free(&H);
}

/* A cancellation ends one call. */
static void cancelled(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 6, 1, 0.5), S;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 4, 6, 1));
    assert_ok(FtB_Context_cancel(NULL));
    assert_fails(FTB_CANCELLED, "cancelled", FtB_sample_negative(S, NULL, 1, A, NULL));
    assert_ok(FtB_sample_negative(S, NULL, 1, A, NULL));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

static GrB_Info negative_once(void *arg)
{
    const FtB_Negative_options *o = arg;
    static const int64_t I[] = {0, 1, 2, 2}, J[] = {1, 1, 0, 3};
    FtB_Matrix A = NULL, S = NULL;
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP32, 4, 4, 0, 4, I, J, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&S, FTB_FP32, 4, 4, 0);
    if (info == GrB_SUCCESS)
        info = FtB_sample_negative(S, NULL, 3, A, o);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    for (int c = 0; c < 4; c++) {
        FtB_Negative_options o = {.size = sizeof o, .global = c % 2, .replace = c / 2};
        fail_every_allocation(negative_once, NULL, &o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),        cmocka_unit_test(wide),    cmocka_unit_test(chances),
        cmocka_unit_test(row_chances),         cmocka_unit_test(refused), cmocka_unit_test(cancelled),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
