/* Sparse x sparse on a GPU: what is done with rows that are there, in the emulator: filters, the k largest,
 * packing, and statistics of rows. Short and long ones, which warps and blocks take, of each type that values
 * have; and operands' values, of any type, as one of these. Oracles compute in long double, which has every
 * value of them. */
#include "support/simt_case.h"

#include "core/core.h"
#include "core/sink.h"
#include "gpu/kernels/scan_tiles.h"
#include "gpu/kernels/spgemm_rows.h"
#include "gpu/kernels/stored_types.h"

enum { LONGEST = FTB_SPGEMM_LONG + 3 * FTB_SPGEMM_STEP_BLOCK / 2, EACH = FTB_SPGEMM_STEP_BLOCK / 32 };

/* Types of values, by their names in kernels'. */
static const struct {
    const char *name;
    FtB_Type type;
    size_t size;
} types[] = {{"f32", FTB_FP32, 4},
             {"f64", FTB_FP64, 8},
             {"i64", FTB_INT64, 8},
             {"u64", FTB_UINT64, 8},
             {"u8", FTB_BOOL, 1}};
enum { TYPES = sizeof types / sizeof *types };

static long double get(const void *x, FtB_Type type, int64_t at)
{
    return type == FTB_FP32     ? (long double)((const float *)x)[at]
           : type == FTB_FP64   ? (long double)((const double *)x)[at]
           : type == FTB_INT64  ? (long double)((const int64_t *)x)[at]
           : type == FTB_UINT64 ? (long double)((const uint64_t *)x)[at]
                                : (long double)((const unsigned char *)x)[at];
}

static void put(void *x, FtB_Type type, int64_t at, long double value)
{
    if (type == FTB_FP32)
        ((float *)x)[at] = (float)value;
    else if (type == FTB_FP64)
        ((double *)x)[at] = (double)value;
    else if (type == FTB_INT64)
        ((int64_t *)x)[at] = (int64_t)value;
    else if (type == FTB_UINT64)
        ((uint64_t *)x)[at] = (uint64_t)value;
    else
        ((unsigned char *)x)[at] = (unsigned char)value;
}

/* Of the type: whole numbers are small, or have up to 64 bits. */
static long double some_value(rng *r, FtB_Type type, values kind)
{
    if (type == FTB_FP32)
        return (long double)case_value(r, kind);
    if (type == FTB_FP64)
        return (long double)((double)case_value(r, kind) / 3);
    if (type == FTB_BOOL)
        return (long double)rng_below(r, 2);
    if (kind == WHOLE)
        return (long double)(rng_below(r, 9) - (type == FTB_INT64 ? 4 : 0));
    const uint64_t bits = rng_bits(r) >> (rng_below(r, 2) ? rng_below(r, 64) : 0);
    return type == FTB_UINT64 ? (long double)bits : (long double)(int64_t)(rng_below(r, 2) ? bits : 0 - bits);
}

static const char *kernel_of(char *name, size_t size, const char *step, int type)
{
    snprintf(name, size, "spgemm_%s_%s", step, types[type].name);
    return name;
}

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
    u.values = case_memory((int64_t)u.many * u.most, 16, "values"); /* of two words */
    u.cells = case_memory((int64_t)u.many * u.most, 16, "cells");
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

/* What cells hold: counts, the values, or nothing that is read. */
enum { COUNTS, SAME, CONSTANT, CELLS };

/* Unit k, which had `count` entries, in columns `old`. */
static void check_finished(const ftb_spgemm_finish_arguments *a, int type, int held, int k, int count,
                           const int *old)
{
    const FtB_Type of = types[type].type;
    int64_t at = a->units[k].at;
    for (int64_t t = at, end = at + count; t < end; t++) {
        long double x[2];
        for (int v = 0; v < a->width; v++)
            x[v] = held == CONSTANT ? get(&a->same, of, 0)
                   : held == COUNTS ? (long double)((const unsigned *)a->cells)[t]
                                    : get(a->cells, of, t * a->width + v);
        if ((a->keep && !a->keep[old[t]]) || !(x[0] >= (long double)a->least))
            continue;
        assert_int_equal(a->cols[at], old[t]);
        for (int v = 0; v < a->width; v++) {
            const long double found = get(a->values, of, at * a->width + v);
            if (!(found == x[v] || (isnan(x[v]) && isnan(found))))
                fail_msg("spgemm_finish_%s: value %d of entry %lld is %.20Lg, expected %.20Lg",
                         types[type].name, v, (long long)t, found, x[v]);
        }
        at++;
    }
    assert_int_equal(a->counts[k], at - a->units[k].at);
}

/* Entries in columns to keep, whose first value is some number at least, in their order. */
static void finish_one(rng *r, int type, int held, int longs)
{
    enum { COLUMNS = 5000 };
    const FtB_Type of = types[type].type;
    const int width = held == COUNTS ? 1 : 1 + (int)rng_below(r, 2);
    const bool all = rng_below(r, 4) == 0;
    const int64_t least = of == FTB_BOOL                        ? 1
                          : held == COUNTS                      ? 3
                          : of == FTB_INT64 || of == FTB_UINT64 ? 2
                                                                : 0;
    units u = make_units(r, 6, longs, 150);
    unsigned char *keep = case_memory(COLUMNS, 1, "keep");
    int *before = malloc((size_t)(u.many * u.most + u.many) * sizeof *before), *old = before + u.many;
    char name[40];
    assert_non_null(before);
    for (int j = 0; j < COLUMNS; j++)
        keep[j] = rng_below(r, 4) > 0;
    for (int64_t t = 0; t < (int64_t)u.many * u.most; t++) {
        u.cols[t] = old[t] = (int)rng_below(r, COLUMNS);
        if (held == COUNTS)
            ((unsigned *)u.cells)[t] = (unsigned)rng_below(r, of == FTB_BOOL ? 2 : 9);
        for (int v = 0; held == SAME && v < width; v++)
            put(u.cells, of, t * width + v, some_value(r, of, rng_below(r, 2) ? WHOLE : ODD));
    }
    memcpy(before, u.counts, (size_t)u.many * sizeof *before);
    ftb_spgemm_finish_arguments a = {.units = u.unit,
                                     .nunits = u.many,
                                     .counts = u.counts,
                                     .cols = u.cols,
                                     .cells = u.cells,
                                     .values = u.values,
                                     .keep = all ? NULL : keep,
                                     .least = (double)least,
                                     .use_least = 1,
                                     .cell = held == COUNTS ? FTB_SPGEMM_COUNT : FTB_SPGEMM_SAME,
                                     .cell_width = width,
                                     .width = width,
                                     .constant = held == CONSTANT};
    put(&a.same, of, 0, (long double)(least + rng_below(r, 2)));
    launch_steps(kernel_of(name, sizeof name, "finish", type), u.many, &a, r);
    for (int k = 0; k < u.many; k++)
        check_finished(&a, type, held, k, before[k], old);
    free(before);
    case_forget(keep);
    forget_units(&u);
}

static void test_finish(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < TYPES * CELLS * case_times(); round++)
        finish_one(&r, round % TYPES, round / TYPES % CELLS, 0);
    for (int type = 0; type < TYPES; type++) /* long units */
        if (case_all() || type < 2)
            finish_one(&r, type, type % CELLS, 4);
}

/* ---- the k largest, and packed */

static void scan(int *counts, long long *offsets, int many, rng *r)
{
    simt_report report;
    ftb_scan_arguments a = {.counts = counts, .to = offsets, .n = many};
    case_launch("scan_top", simt_line(1), FTB_SCAN_BLOCK, (void *[]){&a},
                &(simt_options){.seed = rng_bits(r)}, &report);
}

static bool is_before(const long double *x, int64_t a, int64_t b)
{
    return x[a] > x[b] || (x[a] == x[b] && a < b);
}

/* Of a row's n values: the k largest, in their order, `packed` from `from` on; returns how many. */
static int check_selected(const long double *x, int64_t n, int64_t k, const int *cols, int type,
                          const void *packed, int64_t from)
{
    int at = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t before = 0;
        for (int64_t other = 0; other < n; other++)
            before += is_before(x, other, e);
        if (isnan(x[e]) || before >= k)
            continue;
        assert_int_equal(cols[from + at], e);
        assert_true(get(packed, types[type].type, from + at) == x[e]);
        at++;
    }
    return at;
}

static void select_one(rng *r, int round, int longs)
{
    enum { NROWS = 9 };
    const int type = round % TYPES;
    const FtB_Type of = types[type].type;
    const int64_t k = 1 + rng_below(r, round % 2 ? 5 : longs ? 1200 : 60);
    units u = make_units(r, NROWS, longs, 150);
    int *first = case_memory(NROWS + 1, 4, "first"),
        *packed = case_memory((int64_t)u.many * u.most, 4, "packed");
    void *out = case_memory((int64_t)u.many * u.most, types[type].size, "out");
    long long *offsets = case_memory(u.many + 1, sizeof *offsets, "offsets");
    long double *x[NROWS];
    int64_t n[NROWS] = {0};
    char name[40];
    for (int i = 0; i < NROWS; i++)
        x[i] = malloc((size_t)u.most * 2 * sizeof *x[i]);
    for (int c = 0; c < u.many; c++)
        for (int t = 0; t < u.counts[c]; t++) {
            const bool zero = rng_below(r, 3) == 0; /* of both signs, which are equal */
            const long double one =
                zero ? (rng_below(r, 2) ? -0.0L : 0.0L) : some_value(r, of, (values)(round / TYPES % 3));
            x[c / 2][n[c / 2]] = one;
            u.cols[u.unit[c].at + t] = (int)n[c / 2]++;
            put(u.values, of, u.unit[c].at + t, one);
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
    launch_steps(kernel_of(name, sizeof name, "topk", type), NROWS, &a, r);
    scan(u.counts, offsets, u.many, r);
    snprintf(name, sizeof name, "spgemm_pack_%d", (int)types[type].size);
    launch_steps(name, u.many, &a, r);
    long long at = 0;
    for (int i = 0; i < NROWS; i++) {
        assert_int_equal(offsets[first[i]], at);
        at += check_selected(x[i], n[i], k, packed, type, out, at);
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
    for (int round = 0; round < 30 * case_times();
         round++) /* each type, each kind of values, k of both kinds */
        select_one(&r, round % 30, 0);
    for (int round = 0; round < TYPES; round++)
        select_one(&r, round, 3);
}

/* ---- statistics */

/* Beside sums in long double; every value is counted once. */
static void check_tally(const ftb_spgemm_tally *found, const void *x, FtB_Type type, int64_t count)
{
    long double sum = 0, most = 0, low = INFINITY, high = -INFINITY;
    for (int64_t t = 0; t < count; t++) {
        const long double one = get(x, type, t);
        sum += one;
        most += fabsl(one);
        low = one < low ? one : low;
        high = one > high ? one : high;
    }
    assert_true(found->min == (double)low && found->max == (double)high);
    if (!isfinite(most))
        assert_true(isnan(sum) ? isnan(found->sum) : found->sum == (double)sum);
    else
        assert_true(fabsl((long double)found->sum - sum) <= 0x1p-53L * (long double)(count + 1) * most);
}

/* To the bits of a sink's, of rows of two units, with values that are no numbers among them. */
static void tally_one(rng *r, int type, int width, values kind, int longs)
{
    enum { NROWS = 37 };
    const FtB_Type of = types[type].type;
    const size_t size = types[type].size;
    units u = make_units(r, NROWS, longs, 120);
    int *first = case_memory(NROWS + 1, 4, "first");
    char name[40], *x = case_memory((int64_t)u.many * u.most * width, size, "values"),
                   *row = malloc((size_t)(2 * u.most * width) * size);
    ftb_spgemm_tally *tally = case_memory(NROWS, sizeof *tally, "tally");
    for (int64_t t = 0; t < (int64_t)u.many * u.most * width; t++)
        put(x, of, t, some_value(r, of, kind));
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
    launch_steps(kernel_of(name, sizeof name, "tally", type), (NROWS * FTB_SPGEMM_TALLY_LANES + 31) / 32, &a,
                 r);
    for (int i = 0; i < NROWS; i++) {
        const int64_t nvals = u.counts[2 * i] + u.counts[2 * i + 1];
        ftb_row_stats wanted;
        size_t at = 0;
        for (int c = 2 * i; c < 2 * i + 2; c++) {
            const size_t bytes = (size_t)(u.counts[c] * width) * size;
            memcpy(row + at, x + (size_t)(u.unit[c].at * width) * size, bytes);
            at += bytes;
        }
        check_tally(&tally[i], row, of, nvals * width);
        ftb_row_stats_of(&wanted, row, of, nvals, width);
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

static void test_tallies(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < 2 * TYPES * case_times(); round++)
        tally_one(&r, round % TYPES, 1 + round % 3, round / TYPES % 2 ? REAL : ODD, round == 0 ? 3 : 0);
}

/* ---- operands */

static const struct {
    int stored;
    FtB_Type type;
} stored[] = {{FTB_STORED_BOOL, FTB_BOOL},  {FTB_STORED_I8, FTB_INT8},    {FTB_STORED_I16, FTB_INT16},
              {FTB_STORED_I32, FTB_INT32},  {FTB_STORED_I64, FTB_INT64},  {FTB_STORED_U8, FTB_UINT8},
              {FTB_STORED_U16, FTB_UINT16}, {FTB_STORED_U32, FTB_UINT32}, {FTB_STORED_U64, FTB_UINT64},
              {FTB_STORED_F32, FTB_FP32},   {FTB_STORED_F64, FTB_FP64},   {FTB_STORED_F16, FTB_FP16},
              {FTB_STORED_BF16, FTB_BF16}};

/* A value that both types hold, but for its fraction and what rounding takes: of 64 bits, or in (-16, 16). */
static long double common_value(rng *r, FtB_Type from, FtB_Type to)
{
    const bool reals = from == FTB_FP32 || from == FTB_FP64 || from == FTB_FP16 || from == FTB_BF16,
               below =
                   to != FTB_UINT64 && to != FTB_BOOL &&
                   (reals || from == FTB_INT8 || from == FTB_INT16 || from == FTB_INT32 || from == FTB_INT64);
    if (from == FTB_BOOL)
        return (long double)rng_below(r, 2);
    if ((from == FTB_INT64 || from == FTB_UINT64) && (to == from || to == FTB_FP32 || to == FTB_FP64))
        return some_value(r, from, REAL);
    const long double x = (long double)rng_below(r, 128) / 8; /* no more bits than any has */
    return (below && rng_below(r, 2) ? -1 : 1) * (reals ? x : truncl(x));
}

static void values_one(rng *r, int type, int s, int64_t n, bool chosen)
{
    const FtB_Type from = stored[s].type, to = types[type].type;
    const int64_t room = chosen ? n + 9 : n;
    void *in = case_memory(room, FtB_Type_size(from), "stored"),
         *out = case_memory(n, types[type].size, "to");
    long long *at = case_memory(n, sizeof *at, "from");
    long double *x = malloc((size_t)room * sizeof *x);
    char name[40];
    simt_report report;
    for (int64_t e = 0; e < room; e++) {
        x[e] = common_value(r, from, to);
        const double one = (double)x[e];
        if (from == FTB_INT64 || from == FTB_UINT64)
            put(in, from, e, x[e]);
        else
            ftb_cast((char *)in + (size_t)e * FtB_Type_size(from), from, &one, FTB_FP64, 1);
    }
    for (int64_t e = 0; e < n; e++)
        at[e] = rng_below(r, room);
    ftb_spgemm_values_arguments a = {
        .stored = in, .to = out, .from = chosen ? at : NULL, .nvals = n, .type = stored[s].stored};
    case_launch(kernel_of(name, sizeof name, "values", type),
                simt_line((unsigned)((n + FTB_SPGEMM_STEP_BLOCK - 1) / FTB_SPGEMM_STEP_BLOCK)),
                FTB_SPGEMM_STEP_BLOCK, (void *[]){&a}, &(simt_options){.seed = rng_bits(r)}, &report);
    for (int64_t e = 0; e < n; e++) {
        unsigned long long expected;
        put(&expected, to, 0, x[chosen ? at[e] : e]);
        if (get(out, to, e) != get(&expected, to, 0))
            fail_msg("%s: %.20Lg of type %d became %.20Lg", name, x[chosen ? at[e] : e], (int)from,
                     get(out, to, e));
    }
    free(x);
    void *all[] = {in, out, at};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        case_forget(all[t]);
}

static void test_values(void **state)
{
    static const int64_t counts[] = {1, 31, 255, 256, 257};
    (void)state;
    rng r = rng_new();
    for (int type = 0; type < TYPES; type++)
        for (int s = 0; s < (int)(sizeof stored / sizeof *stored); s++)
            for (int time = 0; time < case_times(); time++)
                values_one(&r, type, s, counts[s == type ? 0 : 1 + rng_below(&r, 4)], rng_below(&r, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finish), cmocka_unit_test(test_selection),
                                       cmocka_unit_test(test_tallies), cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
