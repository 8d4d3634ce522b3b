/* Destination slices: every entry is in its row's slice, in order of columns, those of a row in theirs,
 * whatever the shape and the threads. */
#include "support/check.h"

#include "core/slices.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdlib.h>

/* Walks the words of each slice: columns rise, and the next entry of a row is the next one of CSR. */
static void check_slices(const ftb_pattern *p, const ftb_slices *s)
{
    int64_t *next = malloc(sizeof *next * (size_t)(p->nrows + 1)), words = 0;
    const int64_t most = p->nvals / 64 > 65536 ? p->nvals / 64 : 65536;
    memcpy(next, p->rowptr, sizeof *next * (size_t)(p->nrows + 1));
    assert_int_equal(s->row[0], 0);
    assert_int_equal(s->row[s->count], p->nrows);
    assert_int_equal(s->block[0], 0);
    for (int64_t slice = 0; slice < s->count; slice++) {
        const int64_t first = s->row[slice], rows = s->row[slice + 1] - first;
        int64_t before = -1;
        assert_true(rows > 0 && rows <= 8192);
        assert_true(rows == 1 || p->rowptr[first + rows] - p->rowptr[first] <= most);
        assert_int_equal(words, p->rowptr[first]);
        for (int64_t b = s->block[slice]; b < s->block[slice + 1]; b++) {
            assert_int_equal(s->start[b], words);
            for (; words < s->start[b + 1]; words++) {
                const int64_t i = first + (s->word[words] & 8191),
                              column = s->high[b] * (1 << 19) + (s->word[words] >> 13);
                assert_true(i < first + rows && next[i] < p->rowptr[i + 1]);
                assert_int_equal(column, ftb_col(p, next[i]++));
                assert_true(column >= before);
                before = column;
            }
        }
    }
    assert_int_equal(words, p->nvals);
    free(next);
}

static void check_matrix(FtB_Matrix A)
{
    ftb_slices s, again;
    int64_t before, after;
    assert_ok(FtB_Matrix_csr(A, &(const int64_t *){NULL}, NULL, NULL)); /* as whoever slices has it */
    assert_false(ftb_slices_there(A->pattern));
    FtB_Context_memory(NULL, &before, NULL);
    assert_ok(ftb_slices_get(&s, A->pattern));
    FtB_Context_memory(NULL, &after, NULL);
    const ftb_pattern *p = A->pattern; /* as the planner counts, and small print */
    assert_true(after - before <= ftb_slices_bytes(p->nrows, p->ncols, p->nvals) + 1024);
    check_slices(p, &s);
    assert_true(ftb_slices_there(A->pattern));
    assert_ok(ftb_slices_get(&again, A->pattern));
    assert_ptr_equal(s.word, again.word);
    FtB_Matrix_free(&A);
}

static void test_shapes(void **state)
{
    (void)state;
    rng r = rng_new();
    static const int64_t shapes[][2] = {{0, 0},     {0, 5},     {5, 0},     {1, 1},    {1, 300},
                                        {8192, 40}, {8193, 30}, {17000, 9}, {40, 2000}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int d = 0; d < 4; d++)
            check_matrix(rng_matrix(&r, FTB_FP32, shapes[s][0], shapes[s][1], 0, 0.34 * d));
}

/* Large enough for threads, and for slices that entries end; columns of several blocks, with none in some; a
 * hub row, a hub column, parallel edges. */
static void test_large(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { ROWS = 30000, COLUMNS = (3 << 20) + 17, COUNT = 400000 };
    int64_t *I = malloc(sizeof *I * COUNT), *J = malloc(sizeof *J * COUNT), slices = 0;
    for (int64_t t = 0; t < COUNT; t++) {
        I[t] = t % 4 == 0 ? 1700 : t % 4 == 1 ? rng_below(&r, ROWS) : rng_below(&r, 300);
        J[t] = t % 7 == 0 ? COLUMNS - 1 : t % 7 < 5 ? rng_below(&r, COLUMNS) : rng_below(&r, 1000);
        if (J[t] >> 20 == 1 && I[t] < 300)
            J[t] += 1 << 20;
    }
    for (int threads = 1; threads <= 4; threads++) {
        FtB_Context ctx = NULL;
        FtB_Matrix A = NULL;
        ftb_slices s;
        assert_ok(FtB_Context_new(&ctx));
        assert_ok(FtB_Context_set_threads(ctx, threads));
        assert_ok(FtB_Context_engage(ctx));
        assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, COLUMNS, 0, COUNT, I, J, NULL,
                                   threads % 2 ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
        assert_ok(ftb_slices_get(&s, A->pattern));
        assert_true(s.count > ROWS / 8192 + 1); /* the first rows have slices of their own */
        assert_true(threads % 2 == 0 || threads == 1 || s.count == slices);
        slices = threads % 2 ? s.count : slices;
        check_slices(A->pattern, &s);
        FtB_Matrix_free(&A);
        assert_ok(FtB_Context_engage(NULL));
        FtB_Context_free(&ctx);
    }
    free(I);
    free(J);
}

static GrB_Info make_and_drop(void *arg)
{
    const ftb_pattern *p = ((FtB_Matrix)arg)->pattern;
    ftb_slices s;
    ftb_pattern *copy = ftb_pattern_new(
        p->ctx, p->nrows, p->ncols, ftb_buffer_wrap(p->ctx, p->rowptr, (p->nrows + 1) * 8, false),
        ftb_buffer_wrap(p->ctx, p->colidx, p->nvals * (int64_t)ftb_col_size(p->ncols), false));
    GrB_Info info = copy ? ftb_slices_get(&s, copy) : ftb_nomem();
    assert_true(!copy || ftb_slices_there(copy) == (info == GrB_SUCCESS));
    ftb_pattern_release(copy);
    return info;
}

static void test_failing_allocation(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 5000, 90, 0, 0.1);
    fail_every_allocation(make_and_drop, NULL, A);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_failing_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
