/* FtB_gather and FtB_scatter against loops over plain numbers: dtypes, views, repeated rows, every
 * accumulator, threads that do not show. */
#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_block.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>

static int64_t *random_rows(rng *r, int64_t count, int64_t bound)
{
    int64_t *rows = malloc(sizeof *rows * (size_t)(count + 1)), few = 1 + rng_below(r, bound);
    for (int64_t t = 0; t < count; t++)
        rows[t] = rng_below(r, few); /* often the same ones */
    return rows;
}

static void random_gather(rng *r, int64_t n, int64_t count, int64_t ncols)
{
    FtB_Block X = ref_block_random(r, rng_type(r), n, ncols),
              Y = ref_block_random(r, rng_type(r), count, ncols);
    ref_block *x = ref_block_read(X), *T = ref_block_new(X->type, count, ncols);
    int64_t *rows = random_rows(r, count, n);
    void *before = ref_block_snapshot(Y);
    for (int64_t t = 0; t < count; t++)
        for (int64_t f = 0; f < ncols; f++)
            *ref_block_at(T, t, f) = *ref_block_at(x, rows[t], f);
    assert_ok(FtB_gather(Y, X, rows, count));
    ref_block_check(Y, T, before, 0, "gather");
    ref_block_free(x);
    free(rows);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
}

static void random_scatter(rng *r, int64_t n, int64_t count, int64_t ncols)
{
    FtB_Type type = rng_type(r);
    FtB_Block X = ref_block_random(r, rng_below(r, 2) ? type : rng_type(r), count, ncols);
    FtB_Block Y = ref_block_random(r, type, n, ncols);
    ref_block *x = ref_block_read(X), *T = ref_block_read(Y);
    int64_t *rows = random_rows(r, count, n);
    void *before = ref_block_snapshot(Y);
    const ref_op *accum = rng_below(r, 3) ? ref_op_of((int)rng_below(r, ref_ops())) : NULL;
    for (int64_t t = 0; t < count; t++)
        for (int64_t f = 0; f < ncols; f++) {
            ref_number *y = ref_block_at(T, rows[t], f), new = *ref_block_at(x, t, f);
            *y = ref_cast(accum ? ref_op_apply(accum, *y, new) : new, type);
            if (y->real && type == FTB_FP32)
                y->number = (float)y->number;
        }
    bool narrow = type == FTB_FP16 || type == FTB_BF16; /* each step is rounded to Y's dtype */
    assert_ok(FtB_scatter(Y, ref_op_arg(accum), X, rows, count));
    if (narrow && accum) {
        free(before);
        ref_block_free(T);
    } else {
        ref_block_check(Y, T, before, 1e-6, accum && accum->text ? accum->text : "scatter");
    }
    ref_block_free(x);
    free(rows);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 1500; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        int64_t n = 1 + ref_block_dimension(&r), count = ref_block_dimension(&r);
        random_gather(&r, n, count, ref_block_dimension(&r));
        random_scatter(&r, n, ftb_min(count, 40), ref_block_dimension(&r));
    }
    for (int t = 0; t < 20; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_gather(&r, 5000, 9000, 1 + rng_below(&r, 20));
        random_gather(&r, 3, 5, 5000);
        random_scatter(&r, 3, 5, 5000);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* The same bits whatever the threads: also where the order of a sum shows, and where it is not a sum. */
static void threads_do_not_show(void **state)
{
    (void)state;
    static const char *const accums[] = {"x + y", "x * 0.5 + y", "max(x, y)", NULL, "x + y * i"};
    enum { ROWS = 300, COUNT = 20000, COLS = 5 };
    rng r = rng_new();
    int64_t *rows = random_rows(&r, COUNT, ROWS);
    FtB_Block X, Y, Z;
    assert_ok(FtB_Block_new(&X, COUNT, COLS, FTB_FP32));
    assert_ok(FtB_Block_new(&Y, ROWS, COLS, FTB_FP32));
    assert_ok(FtB_Block_new(&Z, ROWS, COLS, FTB_FP32));
    float *x = block_values(X), *y = block_values(Y), *z = block_values(Z);
    for (int e = 0; e < COUNT * COLS; e++)
        x[e] = (float)rng_unit(&r);
    for (int a = 0; a < 5; a++) {
        memset(y, 0, sizeof *y * ROWS * COLS);
        for (int t = 0; t < COUNT; t++)
            for (int f = 0; f < COLS; f++) {
                float *to = &y[rows[t] * COLS + f], new = x[t * COLS + f];
                *to = a == 0   ? *to + new
                      : a == 1 ? *to * 0.5f + new
                      : a == 2 ? fmaxf(*to, new)
                      : a == 3 ? new
                               : (float)((double)*to + (double)new *(double)rows[t]);
            }
        for (int threads = 1; threads <= 4; threads++) {
            assert_ok(FtB_Context_set_threads(NULL, threads));
            memset(z, 0, sizeof *z * ROWS * COLS);
            if (accums[a])
                assert_ok(FtB_scatter(Z, accums[a], X, rows, COUNT));
            else
                assert_ok(FtB_scatter(Z, NULL, X, rows, COUNT));
            assert_memory_equal(z, y, sizeof *z * ROWS * COLS);
        }
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    free(rows);
    FtB_Block *const all[] = {&X, &Y, &Z};
    for (int b = 0; b < 3; b++)
        FtB_Block_free(all[b]);
}

/* Y may hold X, and the list of rows. */
static void aliases(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    int64_t values[2 * ROWS], goal[2 * ROWS];
    FtB_Block Y, column;
    assert_ok(FtB_Block_wrap(&Y, values, ROWS, 2, 2, FTB_INT64));
    assert_ok(FtB_Block_wrap(&column, values, ROWS, 1, 1, FTB_INT64));
    for (int e = 0; e < 2 * ROWS; e++)
        values[e] = e * 7 % ROWS;
    for (int t = 0; t < ROWS; t++)
        for (int f = 0; f < 2; f++)
            goal[2 * t + f] = values[2 * values[t] + f];
    assert_ok(FtB_gather(Y, Y, values, ROWS));
    assert_memory_equal(values, goal, sizeof goal);
    for (int e = 0; e < 2 * ROWS; e++)
        goal[e] = values[e] = e * 7 % ROWS;
    for (int t = 0; t < ROWS; t++)
        goal[t * 7 % ROWS] += t * 7 % ROWS;
    assert_ok(FtB_scatter(column, "x + y", column, values, ROWS));
    assert_memory_equal(values, goal, sizeof goal);
    FtB_Block_free(&Y);
    FtB_Block_free(&column);
}

static void refusals(void **state)
{
    (void)state;
    const int64_t good[] = {0, 4, 2}, low[] = {0, -1, 2}, high[] = {0, 1, 5};
    const float fixed[6] = {0};
    FtB_Block X, Y, W, K;
    assert_ok(FtB_Block_new(&X, 5, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&Y, 3, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&W, 3, 4, FTB_FP32));
    assert_ok(FtB_Block_wrap_const(&K, fixed, 3, 2, 2, FTB_FP32));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "rows[1] is -1; expected 0 to 4", FtB_gather(Y, X, low, 3));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "rows[2] is 5; expected 0 to 4", FtB_scatter(X, NULL, Y, high, 3));
    assert_fails(GrB_DIMENSION_MISMATCH, "Y is 3 x 2; expected 2 rows", FtB_gather(Y, X, good, 2));
    assert_fails(GrB_DIMENSION_MISMATCH, "X is 3 x 2; expected 2 rows", FtB_scatter(X, NULL, Y, good, 2));
    assert_fails(GrB_DIMENSION_MISMATCH, "Y has 4 columns and X 2", FtB_gather(W, X, good, 3));
    assert_fails(GrB_NULL_POINTER, "rows is NULL", FtB_gather(Y, X, NULL, 3));
    assert_fails(GrB_INVALID_VALUE, "count is -1", FtB_gather(Y, X, good, -1));
    assert_fails(GrB_INVALID_VALUE, "must not be written", FtB_gather(K, X, good, 3));
    assert_fails(GrB_INVALID_VALUE, "must not be written", FtB_scatter(K, NULL, Y, good, 3));
    assert_fails(GrB_DIMENSION_MISMATCH, "accum: makes 1", FtB_scatter(X, "sum(y)", Y, good, 3));
    assert_fails(GrB_NULL_POINTER, "Y is NULL", FtB_gather(NULL, X, good, 3));
    FtB_Block *const all[] = {&X, &Y, &W, &K};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(all[b]);
}

static GrB_Info call(void *arg)
{
    enum { COUNT = 5000 };
    FtB_Block Y = arg, X = NULL;
    int64_t *rows = calloc(COUNT, sizeof *rows);
    GrB_Info info = FtB_Block_new(&X, COUNT, 4, FTB_INT32);
    if (info == GrB_SUCCESS) {
        ((int32_t *)block_values(X))[0] = 1;
        info = FtB_scatter(Y, "x + y", X, rows, COUNT);
    }
    if (info == GrB_SUCCESS) {
        memset(block_values(Y), 0, 3 * 4 * sizeof(float));
        info = FtB_gather(Y, Y, rows, 3);
    }
    FtB_Block_free(&X);
    free(rows);
    return info;
}

static void untouched(void *arg)
{
    FtB_Block Y = arg;
    for (int e = 0; e < 12; e++)
        assert_true(((float *)block_values(Y))[e] == 0);
}

static void failing_allocations(void **state)
{
    (void)state;
    FtB_Block Y;
    assert_ok(FtB_Block_new(&Y, 3, 4, FTB_FP32));
    assert_ok(FtB_Context_set_threads(NULL, 2));
    fail_every_allocation(call, untouched, Y);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Block_free(&Y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases), cmocka_unit_test(threads_do_not_show), cmocka_unit_test(aliases),
        cmocka_unit_test(refusals),     cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
