/* Picks by weight through tables of rows: tables give each entry its share, picks are the same whether tables
 * are kept or not, and follow values that change; what tables cost, and who is told of bad weights. */
#include "support/check.h"

#include "core/draw_tables.h"
#include "core/draws.h"
#include "core/isa.h"
#include "cpu/kernels/sample_kernels.h"
#include "cpu/sample/row_draws.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

/* ---- tables */

static void check_table(const double *weight, int64_t n)
{
    ftb_alias_slot *slots = malloc(sizeof *slots * (size_t)n);
    double *scratch = malloc(sizeof *scratch * (size_t)n);
    long double sum = 0, *share = calloc((size_t)n, sizeof *share);
    memcpy(scratch, weight, sizeof *scratch * (size_t)n);
    for (int64_t t = 0; t < n; t++)
        sum += (long double)weight[t];
    assert_true(ftb_alias_make(slots, scratch, n) == (sum > 0));
    for (int64_t t = 0; sum > 0 && t < n; t++) {
        assert_in_range(slots[t].other, 0, n - 1);
        assert_true((slots[t].below > 0) == (weight[t] > 0));
        assert_true(slots[t].below == UINT32_MAX || weight[slots[t].other] > 0);
        share[t] += (long double)slots[t].below;
        share[slots[t].other] += 0x1p32L - (long double)slots[t].below;
    }
    for (int64_t t = 0; sum > 0 && t < n; t++) { /* a part of 2^-32 for each entry that shares with it */
        const long double wanted = (long double)weight[t] / sum * (long double)n * 0x1p32L;
        assert_true(fabsl(share[t] - wanted) <= 2 * (long double)n + wanted * 1e-9L);
    }
    free(slots);
    free(scratch);
    free(share);
}

static void tables(void **state)
{
    (void)state;
    static const double some[][6] = {{1, 1, 1, 1, 1, 1},           {0, 0, 0, 0, 0, 0},
                                     {0, 0, 5, 0, 0, 0},           {1e308, 1e308, 1e308, 1e308, 0, 1},
                                     {5e-324, 5e-324, 0, 0, 0, 0}, {1e300, 1e-300, 1, 0, 1e299, 1e300},
                                     {0, 1, 0, 1, 0, 1},           {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}};
    for (int c = 0; c < 8; c++)
        for (int64_t n = 1; n <= 6; n++)
            check_table(some[c], n);
    const int cases = rng_cases(2000);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        const int64_t n = 1 + rng_below(&r, 200);
        double weight[200];
        const int kind = (int)rng_below(&r, 4);
        for (int64_t t = 0; t < n; t++)
            weight[t] = kind == 0   ? (double)rng_below(&r, 3)
                        : kind == 1 ? exp(20 * rng_unit(&r))
                                    : rng_unit(&r) + (rng_below(&r, 20) ? 0 : 100);
        for (int64_t t = 0; t < n; t++)
            weight[t] = weight[t] < 0 ? -weight[t] : weight[t];
        check_table(weight, n);
    }
}

/* floor(u n) and the 32 bits below the point, for every instruction set. */
static void places(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        if (ftb_isa_force(isa) != isa)
            continue;
        for (int t = 0; t < 200; t++) {
            ftb_pick_rows rows;
            uint32_t place[4 * FTB_PICK_ROWS], fraction[4 * FTB_PICK_ROWS];
            const uint64_t stream = rng_bits(&r) & ~(UINT64_C(0xffffff) << 32);
            const uint64_t block = t % 2 ? (UINT64_C(1) << 23) - 1 : (uint64_t)rng_below(&r, 50);
            for (int l = 0; l < FTB_PICK_ROWS; l++) {
                rows.vertex[l] = rng_bits(&r);
                rows.seed[l] = rng_bits(&r);
                rows.stream[l] = stream;
                rows.degree[l] = (uint32_t)(1 + rng_below(&r, (INT64_C(1) << (4 + l % 4 * 9)) - 1));
            }
            FTB_PICK(ftb_pick_places)(place, fraction, &rows, block);
            for (int at = 0; at < 4 * FTB_PICK_ROWS; at++) {
                const int l = at % FTB_PICK_ROWS;
                const uint64_t d = 4 * block + (uint64_t)(at / FTB_PICK_ROWS);
                const uint64_t u = (uint64_t)ftb_draw(rows.seed[l], rows.vertex[l], stream, d, false) << 32 |
                                   ftb_draw(rows.seed[l], rows.vertex[l], stream, d, true);
                const unsigned __int128 product = (unsigned __int128)u * rows.degree[l];
                assert_int_equal(place[at], (uint64_t)(product >> 64));
                assert_int_equal(fraction[at], (uint64_t)product >> 32);
            }
        }
    }
    ftb_isa_force(-1);
}

/* ---- kept or not */

/* Rows of up to `most` entries, some weights 0, now and then one that outweighs all others. */
static FtB_Matrix weighted_graph(rng *r, int64_t n, int64_t most)
{
    int64_t *rowptr = calloc((size_t)n + 1, sizeof *rowptr), *I, *J;
    for (int64_t i = 0; i < n; i++)
        rowptr[i + 1] = rowptr[i] + (rng_below(r, 5) ? rng_below(r, 1 + rng_below(r, most) % n) : 0);
    const int64_t nvals = rowptr[n];
    I = malloc(sizeof *I * (size_t)(nvals + 1));
    J = malloc(sizeof *J * (size_t)(nvals + 1));
    float *X = malloc(sizeof *X * (size_t)(nvals + 1));
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            I[e] = i;
            J[e] = e - rowptr[i];
            X[e] = rng_below(r, 6) == 0 && e > rowptr[i] ? 0 : (float)(0.05 + fabs(rng_unit(r)));
            if (e == rowptr[i] && i % 3 == 0)
                X[e] = 5000;
        }
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, n, n, 1, nvals, I, J, X, FTB_DUP_ERROR, NULL));
    free(rowptr);
    free(I);
    free(J);
    free(X);
    return A;
}

static bool has_tables(FtB_Matrix A)
{
    return A->tables[FTB_TABLES_ROWS] && A->tables[FTB_TABLES_ROWS]->made;
}

/* Of all rows, in so many calls. */
static FtB_Matrix pick(FtB_Matrix A, const char *key, int64_t k, bool replace, uint64_t seed)
{
    FtB_Matrix S;
    int64_t nrows, ncols;
    assert_ok(FtB_Matrix_shape(A, &nrows, &ncols, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, nrows, ncols, 1));
    assert_ok(FtB_select_sample(S, NULL, k, key, A, FTB_SELECT_OPTIONS(.seed = seed, .replace = replace)));
    return S;
}

static void same_and_free(FtB_Matrix S, FtB_Matrix T)
{
    const int64_t *a, *b;
    const void *c, *d, *x, *y;
    int64_t nrows;
    assert_ok(FtB_Matrix_shape(S, &nrows, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_csr(S, &a, &c, &x));
    assert_ok(FtB_Matrix_csr(T, &b, &d, &y));
    assert_memory_equal(a, b, sizeof *a * (size_t)(nrows + 1));
    assert_memory_equal(c, d, sizeof(int32_t) * (size_t)a[nrows]);
    assert_memory_equal(x, y, sizeof(float) * (size_t)a[nrows]);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&T);
}

/* The first call evaluates as many weights as there are; the second makes tables. */
static void kept_tables(void **state)
{
    (void)state;
    static const char *const keys[] = {"x", "x * x + 0 * i"};
    static const int64_t ks[] = {1, 3, 10, 61, 62, 63, 64, 65, 90, -1};
    rng r = rng_new();
    for (int c = 0; c < 2; c++) {
        FtB_Matrix A = weighted_graph(&r, 400, 300);
        for (int t = 0; t < 20; t++) {
            const bool replace = t % 2 && ks[t / 2] > 0;
            FtB_Matrix B;
            assert_ok(FtB_Matrix_dup(&B, A));
            FtB_Matrix S = pick(B, keys[c], ks[t / 2], replace, 77);
            assert_true(!has_tables(B));
            for (int threads = 1; threads <= 8; threads += t == 0 ? 1 : 7) {
                assert_ok(FtB_Context_set_threads(NULL, threads));
                FtB_Matrix again = pick(B, keys[c], ks[t / 2], replace, 77), T;
                assert_true(has_tables(B));
                assert_ok(FtB_Matrix_dup(&T, S));
                same_and_free(again, T);
            }
            assert_ok(FtB_Context_set_threads(NULL, 0));
            FtB_Matrix_free(&S);
            FtB_Matrix_free(&B);
        }
        FtB_Matrix_free(&A);
    }
}

/* A call that picks of all rows again and again makes them on its way: its steps are those of the next call.
 */
static void tables_on_the_way(void **state)
{
    (void)state;
    enum { N = 300, STEPS = 6 };
    rng r = rng_new();
    int64_t starts[N];
    FtB_Matrix A = weighted_graph(&r, N, 60);
    FtB_Block first, second;
    for (int64_t t = 0; t < N; t++)
        starts[t] = t;
    float *x = matrix_values(A);
    for (int64_t e = 0; e < A->pattern->nvals; e++)
        x[e] += 1; /* no row is without */
    assert_ok(FtB_Matrix_changed(A));
    assert_ok(FtB_walk(&first, A, starts, N, STEPS, FTB_WALK_OPTIONS(.key = "x", .seed = 9)));
    assert_true(has_tables(A));
    assert_ok(FtB_walk(&second, A, starts, N, STEPS, FTB_WALK_OPTIONS(.key = "x", .seed = 9)));
    assert_memory_equal(ftb_block_data(first), ftb_block_data(second), sizeof(int64_t) * N * (1 + STEPS));
    FtB_Block_free(&first);
    FtB_Block_free(&second);
    FtB_Matrix_free(&A);
}

/* Other values, and other texts, have other tables. */
static void values_change(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = weighted_graph(&r, 200, 60), B;
    FtB_Matrix S = pick(A, "x", 3, false, 5);
    FtB_Matrix_free(&S);
    S = pick(A, "x", 3, false, 5);
    FtB_Matrix_free(&S);
    assert_true(has_tables(A));
    assert_ok(FtB_apply(A, NULL, NULL, "x == 0 ? 0 : 1 / x", A, NULL));
    assert_ok(FtB_Matrix_dup(&B, A));
    same_and_free(pick(A, "x", 3, false, 5), pick(B, "x", 3, false, 5));
    same_and_free(pick(A, "x", 3, false, 5), pick(B, "x", 3, false, 5));
    assert_true(has_tables(A));
    float *x = matrix_values(A), *y = matrix_values(B);
    x[0] = y[0] = 77;
    assert_ok(FtB_Matrix_changed(A));
    assert_ok(FtB_Matrix_changed(B));
    same_and_free(pick(A, "x", 3, false, 6), pick(B, "x * 1", 3, false, 6));
    same_and_free(pick(A, "x", 3, false, 6), pick(B, "x * 1", 3, false, 6));
    assert_true(has_tables(A) && has_tables(B));
    S = pick(A, "x + 1", 3, false, 6);
    assert_true(!has_tables(A)); /* the last text's */
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* Tables do without weights of rows that nobody picks of; who picks of them is told. */
static void bad_rows(void **state)
{
    (void)state;
    static const int64_t fine[] = {0, 1, 3}, rows[] = {1, 2};
    static const float bad[] = {-1, (float)NAN, (float)INFINITY, 0};
    static const char *const said[] = {"key is -1 for A(2, 1)", "nan for A(2, 1)", "key is inf for A(2, 1)",
                                       "weights of row 2 of A are all 0"};
    for (int b = 0; b < 4; b++) {
        int64_t rowptr[5];
        int32_t column[24];
        float x[24];
        FtB_Matrix A, S, T;
        for (int e = 0; e < 24; e++) {
            rowptr[e / 6] = e / 6 * 6;
            column[e] = e % 6;
            x[e] = b == 3 && e / 6 == 2 ? 0 : 1;
        }
        rowptr[4] = 24;
        x[13] = bad[b];
        assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, 4, 6, 1, rowptr, column, x));
        assert_ok(FtB_Matrix_new(&S, FTB_FP32, 3, 6, 1));
        assert_ok(FtB_Matrix_new(&T, FTB_FP32, 2, 6, 1));
        for (int t = 0; t < 3; t++)
            assert_ok(FtB_select_sample(S, FtB_Ids_of(fine, 3), 2, "x", A, NULL));
        assert_true(has_tables(A));
        assert_fails(GrB_INVALID_VALUE, said[b], FtB_select_sample(T, FtB_Ids_of(rows, 2), 2, "x", A, NULL));
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&S);
        FtB_Matrix_free(&T);
    }
}

/* Where tables have no room, it is done without them. */
static void no_room(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    FtB_Matrix A = weighted_graph(&r, 2000, 200), B;
    int64_t bytes;
    const int64_t row = 5;
    assert_ok(FtB_Matrix_dup(&B, A));
    assert_ok(FtB_Context_memory(ctx, &bytes, NULL));
    assert_ok(FtB_Context_set_memory_limit(ctx, bytes + (INT64_C(1) << 19)));
    FtB_Matrix S, T;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 1, 2000, 1));
    assert_ok(FtB_Matrix_new(&T, FTB_FP32, 1, 2000, 1));
    assert_ok(FtB_select_sample(S, FtB_Ids_of(&row, 1), 2, "x", A, NULL));
    assert_non_null(A->tables[FTB_TABLES_ROWS]);
    A->tables[FTB_TABLES_ROWS]->looked = INT64_C(1) << 40;
    assert_ok(FtB_select_sample(S, FtB_Ids_of(&row, 1), 2, "x", A, NULL));
    assert_true(!has_tables(A));
    assert_ok(FtB_select_sample(T, FtB_Ids_of(&row, 1), 2, "x", B, NULL));
    same_and_free(S, T);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

/* ---- failing allocations */

static GrB_Info pick_often(void *arg)
{
    const bool *replace = arg;
    rng r = rng_case(1);
    FtB_Matrix A = NULL, S = NULL;
    int64_t I[40], J[40];
    double X[40];
    for (int e = 0; e < 40; e++) {
        I[e] = 0;
        J[e] = e;
        X[e] = e == 7 ? 1e9 : fabs(rng_unit(&r)); /* so that draws alone do not do */
    }
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP64, 1, 40, 1, 40, I, J, X, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&S, FTB_FP64, 1, 40, 1);
    for (int t = 0; t < 3 && info == GrB_SUCCESS; t++)
        info = FtB_select_sample(S, NULL, 12, "x + 0 * dj", A, FTB_SELECT_OPTIONS(.replace = *replace));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    for (int replace = 0; replace < 2; replace++)
        fail_every_allocation(pick_often, NULL, &(bool){replace});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),        cmocka_unit_test(places),
        cmocka_unit_test(kept_tables),   cmocka_unit_test(tables_on_the_way),
        cmocka_unit_test(values_change), cmocka_unit_test(bad_rows),
        cmocka_unit_test(no_room),       cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
