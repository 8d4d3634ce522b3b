/* Sparse x sparse on a GPU: every kernel of rows in the emulator, against slow loops in double, and what it
 * reads and writes; what is done with rows that are there. */
#include "support/simt_case.h"

#include "core/core.h"
#include "gpu/kernels/spgemm_rows.h"

typedef enum message { COUNT, Times, Table } message;
typedef struct variant {
    const char *name;
    message message;
    int size, values; /* bytes of one */
    bool whole;       /* unsigned numbers */
    enum { DENSE, HASH, LARGE, MASK } form;
    int bits;
} variant;
#define ROWS(name, message, type, values)                                                                    \
    {"spgemm_" #name "_dense", message, sizeof(type), values, (type)0.5 == 0, DENSE, 0},                     \
        {"spgemm_" #name "_hash", message, sizeof(type), values, (type)0.5 == 0, HASH, 0},                   \
        {"spgemm_" #name "_large", message, sizeof(type), values, (type)0.5 == 0, LARGE, 0},                 \
        {"spgemm_" #name "_mask", message, sizeof(type), values, (type)0.5 == 0, MASK, 0},
#define PAIRS(bits) {"spgemm_pair_dense_" #bits, COUNT, 4, 1, true, DENSE, bits},
static const variant variants[] = {
    FTB_SPGEMM_SUMS(ROWS) FTB_SPGEMM_PAIRS(PAIRS){"spgemm_pair_hash", COUNT, 4, 1, true, HASH, 0},
    {"spgemm_pair_large", COUNT, 4, 1, true, LARGE, 0},
    {"spgemm_pair_mask", COUNT, 4, 1, true, MASK, 0}};
enum { VARIANTS = sizeof variants / sizeof *variants, CODES = 5 };

typedef struct problem {
    int64_t nrows, ninner, ncols, nunits, room;
    int64_t *arow, *brow_host;
    int *acol, *bcol, *order, *cols, *counts, *mask_col;
    float *mask;
    long long *brow;
    void *a, *b, *table, *cells;
    ftb_spgemm_unit *units;
    ftb_spgemm_count *statistics;
    bool off_diagonal, upper, valued;
    int tile, slots, warps;
} problem;

/* Distinct columns of each row, ascending. */
static int *columns(rng *r, const int64_t *rowptr, int64_t nrows, int64_t ncols, const char *name)
{
    int *col = case_memory(rowptr[nrows], sizeof *col, name);
    for (int64_t i = 0; i < nrows; i++) {
        int64_t left = rowptr[i + 1] - rowptr[i], e = rowptr[i];
        for (int64_t j = 0; j < ncols; j++)
            if (rng_below(r, ncols - j) < left) {
                col[e++] = (int)j;
                left--;
            }
    }
    return col;
}

static int64_t *rows(rng *r, int64_t nrows, int64_t most)
{
    int64_t *rowptr = calloc((size_t)nrows + 1, sizeof *rowptr);
    assert_non_null(rowptr);
    for (int64_t i = 0; i < nrows; i++)
        rowptr[i + 1] = rowptr[i] + (rng_below(r, 5) == 0 ? 0 : rng_below(r, most + 1));
    return rowptr;
}

static void put_value(const variant *v, void *to, int64_t at, double x)
{
    if (v->whole)
        ((unsigned long long *)to)[at] = (unsigned long long)fabs(x);
    else if (v->size == 4)
        ((float *)to)[at] = (float)x;
    else
        ((double *)to)[at] = x;
}

static double value_of(const variant *v, const void *from, int64_t at)
{
    return v->whole && v->size == 4 ? ((const unsigned *)from)[at]
           : v->whole               ? (double)((const unsigned long long *)from)[at]
           : v->size == 4           ? (double)((const float *)from)[at]
                                    : ((const double *)from)[at];
}

static void make_values(problem *p, rng *r, const variant *v, values kind)
{
    const int64_t na = p->arow[p->nrows], nb = p->brow_host[p->ninner];
    const bool codes = v->message == Table;
    p->a = case_memory(na, codes ? 1 : (size_t)v->size, "a");
    p->b = case_memory(nb, codes ? 1 : (size_t)v->size, "b");
    p->table = case_memory((int64_t)CODES * CODES * v->values, (size_t)v->size, "table");
    for (int64_t e = 0; e < ftb_max(na, nb); e++) {
        if (codes && e < na)
            ((uint8_t *)p->a)[e] = (uint8_t)rng_below(r, CODES);
        if (codes && e < nb)
            ((uint8_t *)p->b)[e] = (uint8_t)rng_below(r, CODES);
        if (v->message == Times && e < na)
            put_value(v, p->a, e, (double)case_value(r, kind));
        if (v->message == Times && e < nb)
            put_value(v, p->b, e, (double)case_value(r, kind));
    }
    for (int64_t k = 0; codes && k < (int64_t)CODES * CODES * v->values;
         k++) /* no -0, and of whole numbers no 0 */
        put_value(v, p->table, k, (double)case_value(r, kind) + (v->whole ? 5 : 0));
}

/* Two units for a row, of some of its columns each, all different. */
static void make_masked(problem *p, rng *r)
{
    p->mask_col = case_memory(p->nrows * p->ncols, sizeof *p->mask_col, "mask");
    p->mask = case_memory(p->nrows * p->ncols, sizeof *p->mask, "mask's values");
    int64_t e = 0, j;
    for (int64_t i = 0; i < p->nrows; i++)
        for (int half = 0; half < 2; half++) {
            ftb_spgemm_unit *u = &p->units[p->nunits++];
            *u = (ftb_spgemm_unit){
                .begin = p->arow[i], .end = p->arow[i + 1], .at = p->room, .row = (int)i, .mask = e};
            for (j = half * p->ncols / 2; j < (half + 1) * p->ncols / 2; j++)
                if (rng_below(r, 2)) {
                    p->mask[e] = rng_below(r, 3) ? 1.5F : -0.0F;
                    p->mask_col[e++] = (int)j;
                    u->first = u->masked == 0 ? (int)j : u->first;
                    u->last = (int)j + 1;
                    u->masked++;
                    p->room++;
                }
        }
}

static void make_units(problem *p, rng *r, const variant *v)
{
    const int64_t most = p->nrows * (p->ncols / p->tile + 2);
    p->units = case_memory(most, sizeof *p->units, "units");
    p->order = case_memory(most, sizeof *p->order, "order");
    p->counts = case_memory(most, sizeof *p->counts, "counts");
    p->statistics = case_memory(most, sizeof *p->statistics, "statistics");
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t j = v->form == MASK ? p->ncols
                         : p->upper      ? ftb_min(i + p->off_diagonal, p->ncols)
                                         : 0;
             j < p->ncols; j += p->tile) {
            const int64_t last = ftb_min(j + p->tile, p->ncols);
            p->units[p->nunits++] =
                (ftb_spgemm_unit){.begin = p->arow[i],
                                  .end = p->arow[i + 1],
                                  .at = p->room,
                                  .row = (int)i,
                                  .first = (int)j,
                                  .last = (int)(v->form == HASH || v->form == LARGE ? p->ncols : last)};
            p->room += last - j;
        }
    if (v->form == MASK)
        make_masked(p, r);
    for (int64_t u = 0; u < p->nunits; u++) {
        const int64_t other = rng_below(r, u + 1);
        p->order[u] = p->order[other];
        p->order[other] = (int)u;
    }
    p->cols = case_memory(p->room, sizeof *p->cols, "cols");
    p->cells = case_memory(p->room * v->values, (size_t)v->size, "cells");
}

static void release(problem *p)
{
    void *all[] = {p->acol, p->bcol, p->order, p->cols,  p->counts,     p->brow,
                   p->a,    p->b,    p->table, p->cells, p->statistics, p->units};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        case_forget(all[k]);
    if (p->mask) {
        case_forget(p->mask_col);
        case_forget(p->mask);
    }
    free(p->arow);
    free(p->brow_host);
}

static simt_report run(problem *p, const variant *v, int lanes, bool statistics, simt_options o)
{
    simt_report report;
    const int cell = v->bits ? v->bits / 8 : v->size * v->values, rows_of_block = FTB_SPGEMM_HASH_BLOCK / 32;
    ftb_spgemm_arguments a = {.units = p->units,
                              .order = p->order,
                              .norder = p->nunits,
                              .acol = p->acol,
                              .brow = p->brow,
                              .bcol = p->bcol,
                              .a = v->message == COUNT ? NULL : p->a,
                              .b = v->message == COUNT ? NULL : p->b,
                              .mask_col = p->mask_col,
                              .mask_values = p->valued ? p->mask : NULL,
                              .mask_size = sizeof *p->mask,
                              .mask_bits = 0x7fffffff,
                              .table = p->table,
                              .table_row = CODES * v->values,
                              .ncols = (int)p->ncols,
                              .off_diagonal = p->off_diagonal,
                              .lanes = lanes,
                              .slots = p->slots,
                              .cols = p->cols,
                              .cells = p->cells,
                              .counts = p->counts,
                              .statistics = statistics ? p->statistics : NULL};
    memset(p->counts, 0x55, (size_t)p->nunits * sizeof *p->counts);
    const unsigned blocks =
        (unsigned)(v->form == HASH || v->form == MASK ? (p->nunits + rows_of_block - 1) / rows_of_block
                                                      : p->nunits);
    const unsigned shared =
        (unsigned)(v->form == HASH    ? rows_of_block * FTB_SPGEMM_HASH_BYTES(p->slots, cell)
                   : v->form == LARGE ? FTB_SPGEMM_LARGE_BYTES(p->slots, cell)
                   : v->form == MASK  ? rows_of_block * FTB_SPGEMM_MASK_BYTES(p->slots, cell)
                                      : FTB_SPGEMM_HEAD_BYTES + ((int64_t)p->tile * cell + 7) / 8 * 8);
    case_launch_shared(v->name, (simt_dim){blocks, 1, 1},
                       v->form != DENSE ? FTB_SPGEMM_HASH_BLOCK : (unsigned)(32 * p->warps), shared,
                       (void *[]){&a}, &o, &report);
    return report;
}

/* Sum v of (i, j), how many messages, and the size of what was added. */
static double slow(const problem *p, const variant *v, int64_t i, int64_t j, int value, int *many,
                   double *size)
{
    double sum = 0;
    *many = 0;
    *size = 0;
    for (int64_t x = p->arow[i]; x < p->arow[i + 1]; x++)
        for (long long e = p->brow[p->acol[x]]; e < p->brow[p->acol[x] + 1]; e++) {
            if (p->bcol[e] != j)
                continue;
            const int code = v->message == Table ? ((uint8_t *)p->a)[x] * CODES + ((uint8_t *)p->b)[e] : 0;
            const double one = v->message == COUNT   ? 1
                               : v->message == Times ? value_of(v, p->a, x) * value_of(v, p->b, e)
                                                     : value_of(v, p->table, code * v->values + value);
            sum += one;
            *size += fabs(one);
            ++*many;
        }
    return sum;
}

static bool is_admitted(const problem *p, const ftb_spgemm_unit *u, int j)
{
    for (long long e = u->mask; e < u->mask + u->masked; e++)
        if (p->mask_col[e] == j)
            return !p->valued || p->mask[e] != 0;
    return false;
}

/* Every entry of a unit where it should be, and no other. */
static void check_unit(const problem *p, const variant *v, const ftb_spgemm_unit *u, int n, values kind)
{
    int64_t at = u->at;
    int many;
    double size;
    for (int j = u->first; j < u->last; j++) {
        const double first = slow(p, v, u->row, j, 0, &many, &size);
        if (v->form == MASK && !is_admitted(p, u, j))
            continue;
        if (many == 0 || (p->off_diagonal && j == u->row))
            continue;
        if (at >= u->at + n || p->cols[at] != j)
            fail_msg("%s: no (%d, %d) = %g", v->name, u->row, j, first);
        for (int value = 0; value < v->values; value++) {
            const double wanted = slow(p, v, u->row, j, value, &many, &size),
                         got = value_of(v, p->cells, at * v->values + value),
                         bound =
                             kind == WHOLE || v->whole ? 0 : many * (v->size == 4 ? 0x1p-23 : 0x1p-52) * size;
            if (!case_near(got, wanted, bound))
                fail_msg("%s: (%d, %d) is %g, not %g", v->name, u->row, j, got, wanted);
        }
        at++;
    }
    assert_int_equal(at, u->at + n);
}

static void check_statistics(const problem *p, const variant *v)
{
    for (int64_t u = 0; u < p->nunits; u++) {
        ftb_spgemm_count c = {.least = UINT32_MAX};
        for (int j = p->units[u].first; j < p->units[u].last; j++) {
            int many;
            double size;
            const unsigned one = (unsigned)slow(p, v, p->units[u].row, j, 0, &many, &size);
            if (one == 0 || (p->off_diagonal && j == p->units[u].row))
                continue;
            c = (ftb_spgemm_count){c.sum + one, c.nvals + 1, ftb_min(c.least, one), ftb_max(c.most, one)};
        }
        assert_memory_equal(&c, &p->statistics[u], sizeof c - 4);
    }
}

static void try_one(rng *r, const variant *v, int round)
{
    const values kind = v->whole ? WHOLE : (values)(round % 3);
    problem p = {.nrows = 1 + rng_below(r, 12),
                 /* of those a block of a larger row takes as many at a time as it has threads */
                 .ninner = 1 + (v->form == LARGE && round > 4 ? 300 : rng_below(r, 40)),
                 .ncols = 1 + rng_below(r, v->form == HASH   ? 32
                                           : v->form == MASK ? 63
                                                             : 90),
                 .off_diagonal = v->form != MASK && round % 2,
                 .upper = round / 2 % 2,
                 .valued = round % 2,
                 .slots = v->form == DENSE   ? 0
                          : v->form == LARGE ? 256
                                             : 64,
                 .warps = 1 + round % 4};
    p.tile = (int)(v->form == HASH || v->form == LARGE ? p.ncols : 1 + rng_below(r, p.ncols));
    p.arow = rows(r, p.nrows, ftb_min(p.ninner, round == 3 || round > 4 ? p.ninner : 9));
    p.brow_host = rows(r, p.ninner, ftb_min(p.ncols, 40));
    p.acol = columns(r, p.arow, p.nrows, p.ninner, "acol");
    p.bcol = columns(r, p.brow_host, p.ninner, p.ncols, "bcol");
    p.brow = case_memory(p.ninner + 1, sizeof *p.brow, "brow");
    for (int64_t k = 0; k <= p.ninner; k++)
        p.brow[k] = p.brow_host[k];
    make_values(&p, r, v, kind);
    make_units(&p, r, v);
    if (p.nunits == 0) { /* a triangle's rows lie below it: nothing is launched */
        release(&p);
        return;
    }
    run(&p, v, round % 2 ? 8 : 32, false, (simt_options){.seed = rng_bits(r), .resident = round % 3});
    for (int64_t u = 0; u < p.nunits; u++)
        check_unit(&p, v, &p.units[u], p.counts[u], kind);
    if (v->message == COUNT && v->form != MASK) {
        run(&p, v, round % 2 ? 32 : 8, true, (simt_options){.seed = rng_bits(r)});
        check_statistics(&p, v);
    }
    release(&p);
}

static void test_variants(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++)
        for (int round = 0; round < 7; round++)
            try_one(&r, &variants[k], round);
}

/* A row of B is read 32 columns at a time, in whole sectors but for both ends of those, and its two pointers,
 * a sector each; of A eight entries a sector; two words are written for each entry, in a run for 32 columns.
 */
static void test_sectors(void **state)
{
    enum { N = 1000, DEGREE = 60, ROWS_OF_A = 40 };
    rng r = rng_new();
    (void)state;
    const variant *v = &variants[VARIANTS - 5];
    assert_string_equal(v->name, "spgemm_pair_dense_16");
    problem p = {.nrows = ROWS_OF_A, .ninner = N, .ncols = N, .tile = N, .warps = 4};
    p.arow = calloc(ROWS_OF_A + 1, sizeof *p.arow);
    p.brow_host = calloc(N + 1, sizeof *p.brow_host);
    p.brow = case_memory(N + 1, sizeof *p.brow, "brow");
    p.brow[0] = 0;
    for (int i = 0; i < ROWS_OF_A; i++)
        p.arow[i + 1] = p.arow[i] + DEGREE;
    for (int k = 0; k < N; k++)
        p.brow[k + 1] = p.brow_host[k + 1] = p.brow_host[k] + DEGREE;
    p.acol = columns(&r, p.arow, p.nrows, N, "acol");
    p.bcol = columns(&r, p.brow_host, N, N, "bcol");
    make_values(&p, &r, v, WHOLE);
    make_units(&p, &r, v);
    const simt_report report = run(&p, v, 32, false, (simt_options){.seed = rng_bits(&r), .count = 1});
    double entries = 0;
    for (int64_t u = 0; u < p.nunits; u++)
        entries += p.counts[u];
    const double left = ROWS_OF_A * DEGREE, runs = ROWS_OF_A * N / 32.0,
                 formula = left * (DEGREE / 8.0 + 2 + 2 + 1 / 8.0) + entries / 4 + 2 * runs;
    if (!((double)report.global_sectors > left * DEGREE / 8 &&
          (double)report.global_sectors <= 1.05 * formula))
        fail_msg("%lld sectors, not %g", (long long)report.global_sectors, formula);
    release(&p);
}

/* ---- rows that are there: the k largest, and packed */

static bool is_before(const double *x, int64_t a, int64_t b)
{
    return x[a] > x[b] || (x[a] == x[b] && a < b);
}

static void select_one(rng *r, int round)
{
    enum { NROWS = 9, MOST = 150 };
    const int64_t k = 1 + rng_below(r, round % 2 ? 5 : 60);
    const bool single = round % 3 == 0;
    ftb_spgemm_unit *units = case_memory(2 * NROWS, sizeof *units, "units");
    int *counts = case_memory(2 * NROWS, sizeof *counts, "counts"),
        *first = case_memory(NROWS + 1, 4, "first");
    int *cols = case_memory(2 * NROWS * MOST, 4, "cols"),
        *packed = case_memory(2 * NROWS * MOST, 4, "packed");
    void *x_of = case_memory(2 * NROWS * MOST, single ? 4 : 8, "values"),
         *out = case_memory(2 * NROWS * MOST, single ? 4 : 8, "out");
    long long *offsets = case_memory(2 * NROWS + 1, sizeof *offsets, "offsets");
    double x[NROWS][2 * MOST];
    int64_t n[NROWS] = {0};
    for (int u = 0; u < 2 * NROWS; u++) {
        units[u] = (ftb_spgemm_unit){.row = u / 2, .at = u * (int64_t)MOST};
        counts[u] = (int)rng_below(r, rng_below(r, 3) ? MOST : 3);
        for (int t = 0; t < counts[u]; t++) {
            const bool zero = rng_below(r, 3) == 0; /* of both signs, which are equal */
            const double one =
                zero ? (rng_below(r, 2) ? -0.0 : 0.0) : (double)case_value(r, (values)(round / 2 % 3));
            x[u / 2][n[u / 2]] = one;
            cols[units[u].at + t] = (int)n[u / 2]++;
            if (single)
                ((float *)x_of)[units[u].at + t] = (float)one;
            else
                ((double *)x_of)[units[u].at + t] = one;
        }
    }
    for (int i = 0; i <= NROWS; i++)
        first[i] = 2 * i;
    ftb_spgemm_pack_arguments a = {units, counts, 2 * NROWS, NROWS,  first, 1,
                                   cols,  x_of,   offsets,   packed, out,   k};
    simt_report report;
    const simt_options o = {.seed = rng_bits(r)};
    const unsigned each = FTB_SPGEMM_STEP_BLOCK / 32;
    case_launch(single ? "spgemm_topk_f32" : "spgemm_topk_f64", (simt_dim){(NROWS + each - 1) / each, 1, 1},
                FTB_SPGEMM_STEP_BLOCK, (void *[]){&a}, &o, &report);
    case_launch("spgemm_scan", (simt_dim){1, 1, 1}, FTB_SPGEMM_SCAN_BLOCK, (void *[]){&a}, &o, &report);
    case_launch(single ? "spgemm_pack_4" : "spgemm_pack_8", (simt_dim){(2 * NROWS + each - 1) / each, 1, 1},
                FTB_SPGEMM_STEP_BLOCK, (void *[]){&a}, &o, &report);
    long long at = 0;
    for (int i = 0; i < NROWS; i++) {
        assert_int_equal(offsets[first[i]], at);
        for (int64_t e = 0; e < n[i]; e++) {
            int64_t before = 0;
            for (int64_t other = 0; other < n[i]; other++)
                before += is_before(x[i], other, e);
            if (isnan(x[i][e]) || before >= k)
                continue;
            assert_int_equal(packed[at], e);
            assert_true((single ? (double)((float *)out)[at] : ((double *)out)[at]) == x[i][e]);
            at++;
        }
    }
    assert_int_equal(offsets[2 * NROWS], at);
    void *all[] = {units, counts, first, cols, packed, x_of, out, offsets};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        case_forget(all[t]);
}

static void test_selection(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < 24; round++)
        select_one(&r, round);
}

/* Units beyond what the block takes at once. */
static void test_scan(void **state)
{
    enum { UNITS = 3 * FTB_SPGEMM_SCAN_BLOCK + 17 };
    rng r = rng_new();
    (void)state;
    int *counts = case_memory(UNITS, sizeof *counts, "counts");
    long long *offsets = case_memory(UNITS + 1, sizeof *offsets, "offsets"), at = 0;
    for (int u = 0; u < UNITS; u++)
        counts[u] = (int)rng_below(&r, 1 << 30);
    ftb_spgemm_pack_arguments a = {.counts = counts, .nunits = UNITS, .offsets = offsets};
    simt_report report;
    case_launch("spgemm_scan", (simt_dim){1, 1, 1}, FTB_SPGEMM_SCAN_BLOCK, (void *[]){&a},
                &(simt_options){.seed = rng_bits(&r)}, &report);
    for (int u = 0; u < UNITS; at += counts[u++])
        assert_true(offsets[u] == at);
    assert_true(offsets[UNITS] == at);
    case_forget(counts);
    case_forget(offsets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors),
                                       cmocka_unit_test(test_selection), cmocka_unit_test(test_scan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
