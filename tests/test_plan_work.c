/* What planning, preparing and running a product of few entries touches: no more than in proportion to
 * entries, rows and columns, however they are shaped. The linker hands the library's calls of malloc, calloc,
 * memset, memcpy and memmove to this file (cmake/tests.cmake), which adds their bytes up; no time is
 * measured.
 *
 * Labels: unit, slow */
#include "support/check.h"

#include "support/rng.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_llong touched;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t size);
void *__real_memset(void *to, int c, size_t bytes);
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_memset(void *to, int c, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);

static void touch(size_t bytes) { atomic_fetch_add(&touched, (long long)bytes); }

void *__wrap_malloc(size_t bytes)
{
    touch(bytes);
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t size)
{
    touch(count * size);
    return __real_calloc(count, size);
}

void *__wrap_memset(void *to, int c, size_t bytes)
{
    touch(bytes);
    return __real_memset(to, c, bytes);
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    touch(bytes);
    return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    touch(bytes);
    return __real_memmove(to, from, bytes);
}

#define PER_LINE 120     /* bytes for a row or a column: a dozen arrays, and those of two threads */
#define PER_ITEM 400     /* for an entry or a product */
#define FIXED (64 << 20) /* chunks, tables of constant size */

static FtB_Matrix scattered(rng *r, int64_t nrows, int64_t ncols, int64_t nvals)
{
    int64_t I[64], J[64];
    double X[64];
    FtB_Matrix A;
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = rng_below(r, nrows);
        J[e] = rng_below(r, ncols);
        X[e] = rng_unit(r) * 2 - 1;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, nrows, ncols, 1, nvals, I, J, X, FTB_DUP_SUM, NULL));
    return A;
}

/* Of one plan, and of the call where `run`. */
static void check_work(FtB_Matrix R, FtB_Side onto, const char *weight, bool run, const char *what)
{
    FtB_Sink sink;
    FtB_Plan plan;
    double products;
    int64_t nrows, ncols, nvals;
    FtB_Matrix_shape(R, &nrows, &ncols, &nvals, NULL, NULL);
    assert_ok(FtB_Sink_stats(&sink));
    for (int64_t k = !run; k < 2; k++) { /* without and with top-k and degrees */
        FtB_Project_options options = {
            .size = sizeof options, .onto = onto, .top_k = 3 * k, .min_degree = k, .self_loops = true};
        int64_t before = touched;
        assert_ok(FtB_project_plan(&plan, sink, R, weight, &options, FTB_ESTIMATE));
        if (run)
            assert_ok(FtB_project(sink, R, weight, &options));
        double bytes = (double)((int64_t)touched - before);
        assert_ok(FtB_Plan_get(plan, "products", &products));
        double fair = FIXED + PER_LINE * (double)(nrows + ncols) + PER_ITEM * ((double)nvals + products);
        if (bytes > (1 + run) * fair)
            fail_msg("%s, %s: %.0f bytes touched; expected at most %.0f", what, weight, bytes,
                     (1 + run) * fair);
        FtB_Plan_free(&plan);
    }
    FtB_Sink_free(&sink);
}

static void check_shape(int64_t nrows, int64_t ncols, bool run)
{
    static const char *const weights[] = {"count", "cosine", "bm25", "plus : a / (a + b)"};
    rng r = rng_new();
    char what[64];
    FtB_Matrix R = scattered(&r, nrows, ncols, 10);
    snprintf(what, sizeof what, "%lld x %lld", (long long)nrows, (long long)ncols);
    for (int w = 0; w < (run ? 4 : 1); w++) {
        check_work(R, FTB_COLS, weights[w], run, what);
        check_work(R, FTB_ROWS, weights[w], run, what);
    }
    FtB_Matrix_free(&R);
}

static void few_entries(void **state)
{
    (void)state;
    check_shape(1, 300000, true);
    check_shape(300000, 1, true);
    check_shape(300000, 300000, true);
    check_shape(2, 300000, true);
}

/* Gigabytes of row pointers: planned only, and only where there is room for them. */
static void extreme_shapes(void **state)
{
    (void)state;
    int64_t room = (int64_t)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (room < INT64_C(10) << 30) {
        print_message("%.1f GB of memory are free; this takes 10\n", (double)room / 1e9);
        skip();
    }
    check_shape(1, 100000000, false);
    check_shape(100000000, 1, false);
    check_shape(10000000, 10000000, false);
}

/* As many rows as entries, each of which shares with its neighbours alone. */
static void long_band(void **state)
{
    (void)state;
    const int64_t n = 200000;
    int64_t *I = malloc(2 * (size_t)n * sizeof *I), *J = malloc(2 * (size_t)n * sizeof *J);
    assert_true(I && J);
    for (int64_t e = 0; e < 2 * n; e++) {
        I[e] = e / 2;
        J[e] = (e / 2 + e % 2) % n;
    }
    FtB_Matrix R;
    assert_ok(FtB_Matrix_build(&R, FTB_BOOL, n, n, 0, 2 * n, I, J, NULL, FTB_DUP_ERROR, NULL));
    check_work(R, FTB_COLS, "count", true, "band");
    check_work(R, FTB_ROWS, "jaccard", true, "band");
    FtB_Matrix_free(&R);
    free(I);
    free(J);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_entries),
        cmocka_unit_test(long_band),
        cmocka_unit_test(extreme_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
