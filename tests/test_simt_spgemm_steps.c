/* Sparse x sparse on a GPU: what is done with rows that are there, in the emulator: filters, the k largest,
 * packing, and statistics of rows. Short and long ones, which warps and blocks take. */
#include "support/simt_case.h"

#include "core/sink.h"
#include "gpu/kernels/scan_tiles.h"
#include "gpu/kernels/spgemm_rows.h"

enum { LONGEST = FTB_SPGEMM_LONG + 3 * FTB_SPGEMM_STEP_BLOCK / 2, EACH = FTB_SPGEMM_STEP_BLOCK / 32 };

/* Units of rows, each with room of `most`; a few are longer than a warp takes. */
typedef struct units {
    int many, most;
    ftb_spgemm_unit *unit;
    int *counts, *cols;
    void *values, *cells;
} units;

static units make_units(rng *r, int rows, int longs, int short_ones)
{
    units u = {.many = 2 * rows, .most = longs ? LONGEST : short_ones};
    u.unit = case_memory(u.many, sizeof *u.unit, "units");
    u.counts = case_memory(u.many, sizeof *u.counts, "counts");
    u.cols = case_memory((int64_t)u.many * u.most, 4, "cols");
    u.values = case_memory((int64_t)u.many * u.most, 8, "values");
    u.cells = case_memory((int64_t)u.many * u.most, 8, "cells");
    for (int k = 0; k < u.many; k++) {
        u.unit[k] = (ftb_spgemm_unit){.row = k / 2, .at = k * (int64_t)u.most};
        u.counts[k] = (int)rng_below(r, rng_below(r, 3) ? short_ones : 3);
        if (longs && rng_below(r, u.many) < longs)
            u.counts[k] = (int)(FTB_SPGEMM_LONG - 20 + rng_below(r, LONGEST - FTB_SPGEMM_LONG + 20));
    }
    if (longs) {
        u.counts[1] = FTB_SPGEMM_LONG;     /* a warp's */
        u.counts[4] = FTB_SPGEMM_LONG + 1; /* a block's */
    }
    return u;
}

static void forget_units(const units *u)
{
    void *all[] = {u->unit, u->counts, u->cols, u->values, u->cells};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        case_forget(all[k]);
}

/* Warps take `many` things. */
static void launch_steps(const char *name, int64_t many, void *arguments, rng *r)
{
    simt_report report;
    case_launch_shared(name, simt_line((unsigned)((many + EACH - 1) / EACH)), FTB_SPGEMM_STEP_BLOCK,
                       FTB_SPGEMM_TEAM_BYTES, (void *[]){arguments}, &(simt_options){.seed = rng_bits(r)},
                       &report);
}

/* ---- filters */

/* Of counts that become FP64: those of columns to keep, and of at least some number, in their order. */
static void finish_one(rng *r, int longs)
{
    enum { COLUMNS = 5000 };
    units u = make_units(r, 6, longs, 150);
    unsigned char *keep = case_memory(COLUMNS, 1, "keep");
    int *before = malloc((size_t)(u.many * u.most + u.many) * sizeof *before), *old = before + u.many;
    unsigned *cells = u.cells;
    assert_non_null(before);
    for (int j = 0; j < COLUMNS; j++)
        keep[j] = rng_below(r, 4) > 0;
    for (int64_t t = 0; t < (int64_t)u.many * u.most; t++) {
        u.cols[t] = old[t] = (int)rng_below(r, COLUMNS);
        cells[t] = (unsigned)rng_below(r, 9);
    }
    memcpy(before, u.counts, (size_t)u.many * sizeof *before);
    ftb_spgemm_finish_arguments a = {.units = u.unit,
                                     .nunits = u.many,
                                     .counts = u.counts,
                                     .cols = u.cols,
                                     .cells = cells,
                                     .values = u.values,
                                     .keep = keep,
                                     .least = 3,
                                     .use_least = 1,
                                     .cell = FTB_SPGEMM_COUNT,
                                     .cell_width = 1,
                                     .width = 1};
    launch_steps("spgemm_finish_f64", u.many, &a, r);
    for (int k = 0; k < u.many; k++) {
        int64_t at = u.unit[k].at;
        for (int64_t t = at, from = at; t < from + before[k]; t++)
            if (keep[old[t]] && cells[t] >= 3) {
                assert_int_equal(u.cols[at], old[t]);
                assert_true(((double *)u.values)[at++] == cells[t]);
            }
        assert_int_equal(u.counts[k], at - u.unit[k].at);
    }
    free(before);
    case_forget(keep);
    forget_units(&u);
}

static void test_finish(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < 6 * case_times(); round++)
        finish_one(&r, round % 6 < 3 ? 0 : 4);
}

/* ---- the k largest, and packed */

static void scan(int *counts, long long *offsets, int many, rng *r)
{
    simt_report report;
    ftb_scan_arguments a = {.counts = counts, .to = offsets, .n = many};
    case_launch("scan_top", simt_line(1), FTB_SCAN_BLOCK, (void *[]){&a},
                &(simt_options){.seed = rng_bits(r)}, &report);
}

static bool is_before(const double *x, int64_t a, int64_t b)
{
    return x[a] > x[b] || (x[a] == x[b] && a < b);
}

/* Of a row's n values: the k largest, in their order; returns how many. */
static int check_selected(const double *x, int64_t n, int64_t k, const int *cols, bool single,
                          const void *packed)
{
    int at = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t before = 0;
        for (int64_t other = 0; other < n; other++)
            before += is_before(x, other, e);
        if (isnan(x[e]) || before >= k)
            continue;
        assert_int_equal(cols[at], e);
        assert_true((single ? (double)((const float *)packed)[at] : ((const double *)packed)[at]) == x[e]);
        at++;
    }
    return at;
}

static void select_one(rng *r, int round, int longs)
{
    enum { NROWS = 9 };
    const int64_t k = 1 + rng_below(r, round % 2 ? 5 : longs ? 1200 : 60);
    const bool single = round % 3 == 0;
    units u = make_units(r, NROWS, longs, 150);
    int *first = case_memory(NROWS + 1, 4, "first"),
        *packed = case_memory((int64_t)u.many * u.most, 4, "packed");
    void *out = case_memory((int64_t)u.many * u.most, single ? 4 : 8, "out");
    long long *offsets = case_memory(u.many + 1, sizeof *offsets, "offsets");
    double *x[NROWS];
    int64_t n[NROWS] = {0};
    for (int i = 0; i < NROWS; i++)
        x[i] = malloc((size_t)u.most * 2 * sizeof *x[i]);
    for (int c = 0; c < u.many; c++)
        for (int t = 0; t < u.counts[c]; t++) {
            const bool zero = rng_below(r, 3) == 0; /* of both signs, which are equal */
            const double one =
                zero ? (rng_below(r, 2) ? -0.0 : 0.0) : (double)case_value(r, (values)(round / 2 % 3));
            x[c / 2][n[c / 2]] = one;
            u.cols[u.unit[c].at + t] = (int)n[c / 2]++;
            if (single)
                ((float *)u.values)[u.unit[c].at + t] = (float)one;
            else
                ((double *)u.values)[u.unit[c].at + t] = one;
        }
    for (int i = 0; i <= NROWS; i++)
        first[i] = 2 * i;
    ftb_spgemm_pack_arguments a = {.units = u.unit,
                                   .counts = u.counts,
                                   .nunits = u.many,
                                   .nrows = NROWS,
                                   .first = first,
                                   .width = 1,
                                   .cols = u.cols,
                                   .values = u.values,
                                   .offsets = offsets,
                                   .packed_cols = packed,
                                   .packed_values = out,
                                   .k = k};
    launch_steps(single ? "spgemm_topk_f32" : "spgemm_topk_f64", NROWS, &a, r);
    scan(u.counts, offsets, u.many, r);
    launch_steps(single ? "spgemm_pack_4" : "spgemm_pack_8", u.many, &a, r);
    long long at = 0;
    for (int i = 0; i < NROWS; i++) {
        assert_int_equal(offsets[first[i]], at);
        at += check_selected(x[i], n[i], k, packed + at, single, (char *)out + at * (single ? 4 : 8));
        free(x[i]);
    }
    assert_int_equal(offsets[u.many], at);
    void *all[] = {first, packed, out, offsets};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        case_forget(all[t]);
    forget_units(&u);
}

static void test_selection(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < 24 * case_times(); round++)
        select_one(&r, round % 24, 0);
    for (int round = 0; round < 4; round++)
        select_one(&r, round, 3);
}

/* ---- statistics */

/* To the bits of a sink's, of rows of two units, with values that are no numbers among them. */
static void test_tallies(void **state)
{
    enum { NROWS = 37 };
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < 6; round++) {
        const bool single = round % 2;
        const int width = 1 + round % 3;
        const size_t size = single ? 4 : 8;
        units u = make_units(&r, NROWS, round == 5 ? 3 : 0, 120);
        int *first = case_memory(NROWS + 1, 4, "first");
        char *x = case_memory((int64_t)u.many * u.most * width, size, "values"),
             *row = malloc((size_t)(2 * u.most * width) * size);
        ftb_spgemm_tally *tally = case_memory(NROWS, sizeof *tally, "tally");
        for (int64_t t = 0; t < (int64_t)u.many * u.most * width; t++) {
            const float one = case_value(&r, round < 2 ? ODD : REAL);
            if (single)
                ((float *)(void *)x)[t] = one;
            else
                ((double *)(void *)x)[t] = (double)one / 3;
        }
        for (int i = 0; i <= NROWS; i++)
            first[i] = 2 * i;
        ftb_spgemm_pack_arguments a = {.units = u.unit,
                                       .counts = u.counts,
                                       .nunits = u.many,
                                       .nrows = NROWS,
                                       .first = first,
                                       .width = width,
                                       .values = x,
                                       .tally = tally};
        launch_steps(single ? "spgemm_tally_f32" : "spgemm_tally_f64",
                     (NROWS * FTB_SPGEMM_TALLY_LANES + 31) / 32, &a, &r);
        for (int i = 0; i < NROWS; i++) {
            ftb_row_stats wanted;
            size_t at = 0;
            for (int c = 2 * i; c < 2 * i + 2; c++) {
                const size_t bytes = (size_t)(u.counts[c] * width) * size;
                memcpy(row + at, x + (size_t)(u.unit[c].at * width) * size, bytes);
                at += bytes;
            }
            ftb_row_stats_of(&wanted, row, single ? FTB_FP32 : FTB_FP64,
                             u.counts[2 * i] + u.counts[2 * i + 1], width);
            assert_true(isnan(wanted.sum) ? isnan(tally[i].sum) : tally[i].sum == wanted.sum);
            wanted.sum = tally[i].sum;
            assert_memory_equal(&wanted, &tally[i], sizeof wanted);
        }
        free(row);
        void *all[] = {first, x, tally};
        for (size_t t = 0; t < sizeof all / sizeof *all; t++)
            case_forget(all[t]);
        forget_units(&u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finish), cmocka_unit_test(test_selection),
                                       cmocka_unit_test(test_tallies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
