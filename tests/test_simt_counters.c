/* What the emulator of a GPU counts: sectors of global memory, and passes over the banks of shared memory,
 * against what follows from the addresses. */
#include "support/check.h"

#include "support/rng.h"
#include "support/simt/simt.h"

#include <stdio.h>
#include <stdlib.h>

enum { LANES = 32, ROWS = 1000, WIDTH = 128 };

static simt_report counted(const char *name, unsigned blocks, unsigned threads, void **arguments,
                           uint64_t seed)
{
    simt_report report;
    if (simt_launch(simt_kernel_find(name), simt_line(blocks), simt_line(threads), 0, arguments,
                    &(simt_options){.seed = seed, .count = 1}, &report) != 0) {
        simt_print(&report, stdout);
        fail_msg("%s: faults", name);
    }
    return report;
}

/* Known to kernels, and aligned as a device's memory is. */
static void *memory(size_t count, size_t size, const char *name)
{
    void *made = aligned_alloc(256, (count * size + 255) / 256 * 256);
    assert_non_null(made);
    memset(made, 0, count * size);
    simt_memory_add(made, count * size, name);
    return made;
}

static void forget(void *made)
{
    simt_memory_remove(made);
    free(made);
}

/* Distinct numbers of bank or sector: how many of t * stride % 1024, in units of `of`; or the most in one
 * bank. */
static int distinct(int stride, int of)
{
    char seen[1024] = {0};
    int count = 0;
    for (int t = 0; t < LANES; t++) {
        char *s = &seen[t * stride % 1024 / of];
        count += !*s;
        *s = 1;
    }
    return count;
}

static int most_in_bank(int stride)
{
    char seen[1024] = {0};
    int in[LANES] = {0}, most = 0;
    for (int t = 0; t < LANES; t++) {
        const int word = t * stride % 1024;
        if (!seen[word]++ && ++in[word % LANES] > most)
            most = in[word % LANES];
    }
    return most;
}

static void test_strides(void **state)
{
    (void)state;
    float *in = memory(1024, sizeof *in, "in"), *out = memory(LANES, sizeof *out, "out");
    for (int stride = 0; stride <= 70; stride++) {
        const simt_report r = counted("strided", 1, LANES, (void *[]){&in, &stride, &out}, (uint64_t)stride);
        assert_int_equal(r.global_requests, 2);
        assert_int_equal(r.global_sectors, distinct(stride, 8) + 4);
        assert_int_equal(r.shared_requests, 33);
        assert_int_equal(r.shared_passes, 32 + most_in_bank(stride));
    }
    forget(in);
    forget(out);
}

static void test_wide(void **state)
{
    (void)state;
    float *out = memory(LANES, sizeof *out, "out");
    for (int together = 0; together < 2; together++) {
        const simt_report r = counted("wide", 1, LANES, (void *[]){&together, &out}, 3);
        assert_int_equal(r.shared_requests, 4);
        /* Quarters, and halves, of a warp each take one pass, written and read. */
        assert_int_equal(r.shared_passes, 2 * (4 + 2));
        assert_int_equal(r.global_sectors, 4);
    }
    forget(out);
}

/* A fifth of the rows has 20 times the entries of the others: the formula in the kernel's head comment,
 * within 5 %. */
static void test_spmm(void **state)
{
    (void)state;
    rng r = rng_new();
    int *rowptr = memory(ROWS + 1, sizeof *rowptr, "rowptr"), rows = ROWS;
    for (int i = 0; i < ROWS; i++)
        rowptr[i + 1] = rowptr[i] + (i % 5 == 0 ? 200 : 10);
    const int n = rowptr[ROWS];
    int *colidx = memory((size_t)n, sizeof *colidx, "colidx");
    float *values = memory((size_t)n, sizeof *values, "values"), *x = memory(ROWS * WIDTH, sizeof *x, "x"),
          *y = memory(ROWS * WIDTH, sizeof *y, "y");
    for (int e = 0; e < n; e++)
        colidx[e] = (int)rng_below(&r, ROWS);
    const simt_report report =
        counted("spmm", (ROWS + 3) / 4, 128, (void *[]){&rows, &rowptr, &colidx, &values, &x, &y}, 2);
    int64_t requests = 0, sectors = 0;
    for (int i = 0; i < ROWS; i++) {
        requests += 3;
        sectors += 2 + 16;
        for (int from = rowptr[i]; from < rowptr[i + 1]; from += LANES) {
            const int past = from + LANES < rowptr[i + 1] ? from + LANES : rowptr[i + 1];
            requests += 2 + past - from;
            sectors += 2 * ((past - 1) / 8 - from / 8 + 1) + 16 * (past - from);
        }
    }
    assert_int_equal(report.global_requests, requests);
    assert_int_equal(report.global_sectors, sectors);
    assert_true((double)report.global_sectors <= 1.05 * (16.0 * n + 2.0 * n / 8 + 18.0 * ROWS));
    forget(rowptr);
    forget(colidx);
    forget(values);
    forget(x);
    forget(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_spmm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
