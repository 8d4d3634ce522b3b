/* Bulk copies and products of matrices in the emulator of a GPU: what is waited for has its values, sums are
 * those of the matrices that lanes say they have, and mistakes are found. */
#include "core/core.h"
#include "support/simt_tiles.h"

#include <math.h>
#include <stdio.h>

enum { SEEDS = 40 };

static void right(void **state)
{
    (void)state;
    tiles_right("bulk_right", SEEDS);
}

/* Every one is found with every seed; as what depends on who runs first. */
static void mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned kinds; /* any of them */
        const char *text;
    } list[] = {
        {"bulk_no_wait", 1 << SIMT_COPY | 1 << SIMT_UNWRITTEN | 1 << SIMT_RACE, ""},
        {"bulk_expects_less", 1 << SIMT_COPY | 1 << SIMT_DEADLOCK | 1 << SIMT_RACE | 1 << SIMT_UNWRITTEN, ""},
        {"bulk_expects_more", 1 << SIMT_DEADLOCK, "for copies"},
        {"bulk_begun_unseen", 1 << SIMT_RACE | 1 << SIMT_COPY | 1 << SIMT_UNWRITTEN, ""},
        {"bulk_refilled_too_soon", 1 << SIMT_RACE | 1 << SIMT_COPY, "dynamic shared memory"},
        {"bulk_another_phase", 1 << SIMT_COPY | 1 << SIMT_DEADLOCK | 1 << SIMT_RACE | 1 << SIMT_UNWRITTEN,
         ""},
        {"bulk_half_a_grain", 1 << SIMT_ALIGNMENT, "multiples of 16"},
        {"bulk_left_alone", 1 << SIMT_COPY, "ends while"},
        {"bulk_one_waits", 1 << SIMT_COPY | 1 << SIMT_UNWRITTEN | 1 << SIMT_RACE, "dynamic shared memory"},
        {"bulk_source_overwritten", 1 << SIMT_COPY, "writes to in"},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            simt_report report;
            tiles_run(list[k].name, seed, &report);
            int64_t found = 0;
            for (int kind = 0; kind < SIMT_NKINDS; kind++)
                found += list[k].kinds >> kind & 1 ? report.of_kind[kind] : 0;
            if (found == 0 || found < report.faults || !strstr(report.first[0].text, list[k].text)) {
                simt_print(&report, stdout);
                fail_msg("%s, seed %d: not found", list[k].name, (int)seed);
            }
        }
}

/* ---- matrices, laid out as PTX says */

enum { ROWS = 16, COLUMNS = 8, MOST = 16, LANES = 32 };

static float sums[LANES * 4];
static unsigned fragments_a[LANES * 4], fragments_b[LANES * 2];

/* The value of row and column, and its bits as an operand. */
static unsigned operand(rng *r, FtB_Type type, float *value)
{
    unsigned bits = 0;
    if (type == FTB_FP32) {
        rng_reals(r, value, FTB_FP32, 1);
        memcpy(&bits, value, sizeof bits);
        bits &= ~0x1fffU;
        memcpy(value, &bits, sizeof bits);
        return bits | (unsigned)rng_below(r, 0x2000); /* which do not count */
    }
    unsigned short half;
    rng_reals(r, &half, type, 1);
    ftb_cast(value, FTB_FP32, &half, type, 1);
    return half;
}

static void multiply(rng *r, const char *kernel, FtB_Type type)
{
    float a[ROWS][MOST], b[MOST][COLUMNS], before[LANES * 4];
    const int inner = type == FTB_FP32 ? 8 : 16;
    memset(fragments_a, 0, sizeof fragments_a);
    memset(fragments_b, 0, sizeof fragments_b);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < inner; j++) {
            const unsigned bits = operand(r, type, &a[i][j]);
            const int g = i % 8, t = inner == 8 ? j % 4 : j % 8 / 2,
                      which = i / 8 + 2 * (inner == 8 ? j / 4 : j / 8);
            fragments_a[4 * (4 * g + t) + which] |= inner == 8 ? bits : bits << 16 * (j % 2);
        }
    for (int j = 0; j < inner; j++)
        for (int n = 0; n < COLUMNS; n++) {
            const unsigned bits = operand(r, type, &b[j][n]);
            const int t = inner == 8 ? j % 4 : j % 8 / 2, which = inner == 8 ? j / 4 : j / 8;
            fragments_b[2 * (4 * n + t) + which] |= inner == 8 ? bits : bits << 16 * (j % 2);
        }
    rng_reals(r, sums, FTB_FP32, LANES * 4);
    memcpy(before, sums, sizeof before);
    simt_memory_add(fragments_a, sizeof fragments_a, "a");
    simt_memory_add(fragments_b, sizeof fragments_b, "b");
    simt_memory_add(sums, sizeof sums, "d");
    unsigned *at = fragments_a, *bt = fragments_b;
    float *to = sums;
    int lanes = LANES;
    simt_report report;
    assert_int_equal(simt_launch(simt_kernel_find(kernel), simt_line(1), simt_line(LANES), 0,
                                 (void *[]){&at, &bt, &to, &lanes}, &(simt_options){.seed = rng_bits(r)},
                                 &report),
                     0);
    for (int i = 0; i < ROWS; i++)
        for (int n = 0; n < COLUMNS; n++) {
            const int where = 4 * (i % 8 * 4 + n / 2) + i / 8 * 2 + n % 2;
            double sum = before[where], size = fabs(sum);
            for (int j = 0; j < inner; j++) {
                sum += (double)a[i][j] * b[j][n];
                size += fabs((double)a[i][j] * b[j][n]);
            }
            if (!(fabs(sums[where] - sum) <= 20 * 0x1p-24 * size))
                fail_msg("%s: (%d, %d) is %g, not %g", kernel, i, n, (double)sums[where], sum);
        }
    lanes = 20; /* others do not come */
    assert_true(simt_launch(simt_kernel_find(kernel), simt_line(1), simt_line(LANES), 0,
                            (void *[]){&at, &bt, &to, &lanes}, &(simt_options){.seed = rng_bits(r)},
                            &report) > 0);
    assert_true(report.of_kind[SIMT_MASK] > 0);
    assert_non_null(strstr(report.first[0].text, "mma.sync"));
}

static void matrices(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int k = 0; k < 10; k++) {
        multiply(&r, "matrices_tf32", FTB_FP32);
        multiply(&r, "matrices_fp16", FTB_FP16);
        multiply(&r, "matrices_bf16", FTB_BF16);
    }
}

static void rounding(void **state)
{
    static float x[] = {
        0,        -0.0F,         1,         1 + 0x1p-11F, 1 + 0x1.8p-11F, -1 - 0x1p-11F, 1 + 0x1.fp-12F,
        INFINITY, 0x1.ffffp127F, 0x1p-149F, NAN};
    static const float expected[] = {0,        -0.0F,    1, 1 + 0x1p-10F, 1 + 0x1p-10F, -1 - 0x1p-10F, 1,
                                     INFINITY, INFINITY, 0, NAN};
    static unsigned got[sizeof x / sizeof *x];
    float *from = x;
    unsigned *to = got;
    (void)state;
    simt_memory_add(x, sizeof x, "x");
    simt_memory_add(got, sizeof got, "got");
    assert_int_equal(simt_launch(simt_kernel_find("rounded_tf32"), simt_line(1),
                                 simt_line(sizeof x / sizeof *x), 0, (void *[]){&from, &to}, NULL, NULL),
                     0);
    for (size_t k = 0; k + 1 < sizeof x / sizeof *x; k++)
        assert_memory_equal(&got[k], &expected[k], sizeof *got);
    float last;
    memcpy(&last, &got[sizeof x / sizeof *x - 1], sizeof last);
    assert_true(isnan(last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right), cmocka_unit_test(mistakes),
                                       cmocka_unit_test(matrices), cmocka_unit_test(rounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
