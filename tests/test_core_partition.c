/* Source partitions: every entry is in its segment's visits, in order, whatever the shape, width and threads;
 * they are cached, counted, shared and dropped. */
#include "support/check.h"

#include "core/partition.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdlib.h>

/* Walks the visits and finds every entry of the pattern exactly once, where it should be. */
static void check_partition(const ftb_pattern *p, const ftb_partition *s, int64_t width)
{
    assert_int_equal(s->width, width);
    assert_int_equal(s->nsegments, p->ncols > 0 ? (p->ncols - 1) / width + 1 : 0);
    assert_int_equal(s->segment[0], 0);
    assert_int_equal(s->segment[s->nsegments], s->nvisits);
    assert_int_equal(s->start[s->nvisits], p->nvals);
    int64_t place = 0;
    for (int64_t segment = 0; segment < s->nsegments; segment++)
        for (int64_t v = s->segment[segment]; v < s->segment[segment + 1]; v++) {
            int64_t i = s->row[v], e = s->entry[v], count = s->start[v + 1] - s->start[v];
            assert_int_equal(s->start[v], place);
            assert_true(count > 0 && (v == s->segment[segment] || i > s->row[v - 1]));
            assert_true(e >= p->rowptr[i] && e + count <= p->rowptr[i + 1]);
            assert_true(e == p->rowptr[i] || ftb_col(p, e - 1) < segment * width);
            assert_true(e + count == p->rowptr[i + 1] || ftb_col(p, e + count) >= (segment + 1) * width);
            for (int64_t t = 0; t < count; t++)
                assert_int_equal(segment * width + s->column[place + t], ftb_col(p, e + t));
            place += count;
        }
    assert_int_equal(place, p->nvals);
}

static void check_widths(FtB_Matrix A)
{
    static const int64_t widths[] = {1, 2, 3, 7, 64, 1000, 65535, 65536};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        ftb_partition *s = NULL, *again = NULL;
        int64_t before, after;
        FtB_Context_memory(NULL, &before, NULL);
        assert_ok(ftb_partition_get(&s, A->pattern, widths[w]));
        FtB_Context_memory(NULL, &after, NULL);
        /* as the planner counts, and small print */
        assert_true(after - before <= 2 * A->pattern->nvals + 20 * s->nvisits + 8 * s->nsegments + 1024);
        check_partition(A->pattern, s, widths[w]);
        assert_ok(ftb_partition_get(&again, A->pattern, widths[w]));
        assert_ptr_equal(s, again);
        ftb_partition_release(s);
        ftb_partition_release(again);
    }
    FtB_Matrix_free(&A);
}

static void test_shapes(void **state)
{
    (void)state;
    rng r = rng_new();
    static const int64_t shapes[][2] = {{0, 0}, {0, 5},  {5, 0},    {1, 1},     {1, 300},
                                        {7, 1}, {33, 9}, {40, 200}, {200, 2000}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int d = 0; d < 4; d++)
            check_widths(rng_matrix(&r, FTB_FP32, shapes[s][0], shapes[s][1], 0, 0.34 * d));
}

/* Large enough for several parts; columns beyond 16 bits; a hub row, a hub column, parallel edges. */
static void test_large(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { ROWS = 3000, COLUMNS = 150000, COUNT = 200000 };
    int64_t *I = malloc(sizeof *I * COUNT), *J = malloc(sizeof *J * COUNT);
    for (int64_t t = 0; t < COUNT; t++) {
        I[t] = t % 4 == 0 ? 17 : rng_below(&r, ROWS);
        J[t] = t % 7 == 0 ? COLUMNS - 1 : rng_below(&r, COLUMNS);
    }
    for (int threads = 1; threads <= 3; threads++) {
        FtB_Context ctx = NULL;
        FtB_Matrix A = NULL;
        assert_ok(FtB_Context_new(&ctx));
        assert_ok(FtB_Context_set_threads(ctx, threads));
        assert_ok(FtB_Context_engage(ctx));
        assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, COLUMNS, 0, COUNT, I, J, NULL,
                                   threads == 2 ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
        ftb_partition *s = NULL;
        for (int64_t width = 1500; width <= 65536; width = width * 3 + 1) {
            assert_ok(ftb_partition_get(&s, A->pattern, width));
            check_partition(A->pattern, s, width);
            ftb_partition_release(s);
        }
        FtB_Matrix_free(&A);
        assert_ok(FtB_Context_engage(NULL));
        FtB_Context_free(&ctx);
    }
    free(I);
    free(J);
}

static void test_wide(void **state)
{
    (void)state;
    const int64_t n = INT64_C(1) << 32, I[] = {0, 0, 0, 2}, J[] = {5, n - 2, n - 1, n - 65537};
    FtB_Matrix A = NULL;
    ftb_partition *s = NULL;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 3, n, 0, 4, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(ftb_partition_get(&s, A->pattern, 65536));
    check_partition(A->pattern, s, 65536);
    assert_int_equal(s->nvisits, 3);
    ftb_partition_release(s);
    FtB_Matrix_free(&A);
}

static void test_refused(void **state)
{
    (void)state;
    FtB_Matrix A = NULL;
    ftb_partition *s = NULL;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 3, 3, 0));
    assert_fails(GrB_INVALID_VALUE, "expected 1 to 65536", ftb_partition_get(&s, A->pattern, 0));
    assert_fails(GrB_INVALID_VALUE, "expected 1 to 65536", ftb_partition_get(&s, A->pattern, 65537));
    assert_null(s);
    FtB_Matrix_free(&A);
}

/* Under a limit, partitions that nobody holds make room for the next; one that is held does not. */
static void test_pressure(void **state)
{
    (void)state;
    FtB_Context ctx = NULL;
    FtB_Matrix A = NULL;
    rng r = rng_new();
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    A = rng_matrix(&r, FTB_FP32, 200, 2000, 0, 0.5);
    ftb_partition *s = NULL, *held = NULL;
    assert_ok(ftb_partition_get(&s, A->pattern, 50));
    int64_t now;
    assert_ok(FtB_Context_memory(ctx, &now, NULL));
    assert_ok(FtB_Context_set_memory_limit(ctx, now + 65536));
    assert_true(ftb_partition_get(&held, A->pattern, 49) == FTB_LIMIT);
    check_partition(A->pattern, s, 50);
    ftb_partition_release(s);
    assert_ok(ftb_partition_get(&held, A->pattern, 49));
    check_partition(A->pattern, held, 49);
    assert_int_equal(ftb_partition_widest(A->pattern), 49); /* the other was dropped */
    FtB_Matrix_free(&A);                                    /* outlived by what is held */
    assert_true(held->nvisits > 0);
    ftb_partition_release(held);
    assert_ok(FtB_Context_memory(ctx, &now, NULL));
    assert_int_equal(now, 0);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

static GrB_Info make_and_drop(void *arg)
{
    FtB_Matrix A = NULL;
    ftb_partition *s = NULL;
    GrB_Info info = FtB_Matrix_like(&A, arg, 0, FTB_FP32);
    ftb_pattern *copy = NULL;
    if (info == GrB_SUCCESS) { /* a pattern of its own, so that what is cached goes with it */
        const ftb_pattern *p = A->pattern;
        copy = ftb_pattern_new(
            A->ctx, p->nrows, p->ncols, ftb_buffer_wrap(A->ctx, p->rowptr, (p->nrows + 1) * 8, false),
            ftb_buffer_wrap(A->ctx, p->colidx, p->nvals * (int64_t)ftb_col_size(p->ncols), false));
        info = copy ? ftb_partition_get(&s, copy, 30) : ftb_nomem();
    }
    ftb_partition_release(s);
    ftb_pattern_release(copy);
    FtB_Matrix_free(&A);
    return info;
}

static void test_failing_allocation(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 50, 90, 0, 0.3);
    fail_every_allocation(make_and_drop, NULL, A);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),   cmocka_unit_test(test_large),
        cmocka_unit_test(test_wide),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_pressure), cmocka_unit_test(test_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
