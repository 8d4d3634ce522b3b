/* Sparse x sparse on a GPU: every kernel of rows in the emulator, against slow loops in double, and what it
 * reads and writes. */
#include "support/simt_case.h"

#include "core/core.h"
#include "gpu/kernels/spgemm_rows.h"

typedef enum message { COUNT, Times, Table } message;
typedef struct variant {
    const char *name;
    message message;
    int size, values; /* bytes of one */
    bool whole;       /* unsigned numbers */
    enum { DENSE, HASH, LARGE, MASK, BITS } form;
    int bits;
} variant;
#define ROWS(name, message, type, values)                                                                    \
    {"spgemm_" #name "_dense", message, sizeof(type), values, (type)0.5 == 0, DENSE, 0},                     \
        {"spgemm_" #name "_hash", message, sizeof(type), values, (type)0.5 == 0, HASH, 0},                   \
        {"spgemm_" #name "_large", message, sizeof(type), values, (type)0.5 == 0, LARGE, 0},                 \
        {"spgemm_" #name "_mask", message, sizeof(type), values, (type)0.5 == 0, MASK, 0},
#define PAIRS(bits)                                                                                          \
    {"spgemm_pair_dense_" #bits, COUNT, 4, 1, true, DENSE, bits},                                            \
        {"spgemm_pair_bits_" #bits, COUNT, 4, 1, true, BITS, bits},
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
    long long *brow, *end;
    int *rest, *id, *hot;
    unsigned *words;
    int nhot;
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
    void *bits[] = {p->id, p->hot, p->words, p->rest, p->end};
    for (size_t k = 0; k < 5 && p->id; k++)
        case_forget(bits[k]);
    free(p->arow);
    free(p->brow_host);
}

/* One of `odds` columns as bits. */
static void make_bits(problem *p, rng *r, int64_t odds)
{
    const int64_t nvals = p->brow_host[p->ninner];
    p->id = case_memory(p->ncols, sizeof *p->id, "id");
    p->hot = case_memory(p->ncols, sizeof *p->hot, "hot");
    for (int64_t j = 0; j < p->ncols; j++) {
        p->id[j] = rng_below(r, odds) == 0 ? p->nhot : -1;
        if (p->id[j] >= 0)
            p->hot[p->nhot++] = (int)j;
    }
    const int lines = (p->nhot + FTB_SPGEMM_LINE - 1) / FTB_SPGEMM_LINE, warps = FTB_SPGEMM_STEP_BLOCK / 32;
    p->words = case_memory(lines * p->ninner * 32, sizeof *p->words, "bits");
    p->rest = case_memory(nvals, sizeof *p->rest, "rest");
    p->end = case_memory(p->ninner, sizeof *p->end, "end");
    ftb_spgemm_hot_arguments a = {.row = p->brow,
                                  .col = p->bcol,
                                  .id = p->id,
                                  .nrows = p->ninner,
                                  .lines = lines,
                                  .bits = p->words,
                                  .rest = p->rest,
                                  .end = p->end};
    simt_report report;
    case_launch("spgemm_bits", simt_line((unsigned)((p->ninner + warps - 1) / warps)), FTB_SPGEMM_STEP_BLOCK,
                (void *[]){&a}, &(simt_options){.seed = rng_bits(r)}, &report);
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
                              .bend = v->form == BITS ? p->end : p->brow + 1,
                              .bcol = v->form == BITS ? p->rest : p->bcol,
                              .bits = p->words,
                              .hot = p->hot,
                              .nhot = p->nhot,
                              .ninner = p->ninner,
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
                       v->bits || v->form == DENSE ? (unsigned)(32 * p->warps) : FTB_SPGEMM_HASH_BLOCK,
                       shared, (void *[]){&a}, &o, &report);
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

static const variant *find(const char *name)
{
    for (int k = 0; k < VARIANTS; k++)
        if (strcmp(variants[k].name, name) == 0)
            return &variants[k];
    fail_msg("no kernel %s", name);
    return NULL;
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

/* Of a round: rows of B that a block takes together, beside others. */
static bool has_long(const variant *v, int round) { return v->form == LARGE && round == 7; }

static int64_t most_inner(const variant *v, int round)
{
    return has_long(v, round)                                   ? 9
           : (v->form == LARGE || v->form == BITS) && round > 4 ? 300 /* more than are taken at a time */
                                                                : 40;
}

static int64_t most_columns(const variant *v, int round)
{
    return has_long(v, round)             ? 500
           : v->form == HASH              ? 32
           : v->form == MASK              ? 63
           : v->form == BITS && round > 4 ? 2300 /* of more lines than one */
                                          : 90;
}

static void try_one(rng *r, const variant *v, int round)
{
    const values kind = v->whole ? WHOLE : (values)(round % 3);
    const bool hashed = v->form == HASH || v->form == LARGE;
    problem p = {.nrows = 1 + rng_below(r, most_columns(v, round) > 400 ? 3 : 12),
                 .ninner = most_inner(v, round) - rng_below(r, round > 4 ? 3 : 39),
                 .ncols = most_columns(v, round) - rng_below(r, has_long(v, round) ? 100 : 31),
                 .off_diagonal = v->form != MASK && round % 2,
                 .upper = round / 2 % 2,
                 .valued = round % 2,
                 .slots = v->bits              ? 0
                          : has_long(v, round) ? 1024
                          : v->form == LARGE   ? 256
                                               : 64,
                 .warps = 1 + round % 4};
    p.tile = (int)(hashed ? p.ncols : 1 + rng_below(r, p.ncols));
    p.arow = rows(r, p.nrows, ftb_min(p.ninner, round == 3 || round > 4 ? p.ninner : 9));
    p.brow_host = rows(r, p.ninner, ftb_min(p.ncols, has_long(v, round) ? p.ncols : 40));
    p.acol = columns(r, p.arow, p.nrows, p.ninner, "acol");
    p.bcol = columns(r, p.brow_host, p.ninner, p.ncols, "bcol");
    p.brow = case_memory(p.ninner + 1, sizeof *p.brow, "brow");
    for (int64_t k = 0; k <= p.ninner; k++)
        p.brow[k] = p.brow_host[k];
    make_values(&p, r, v, kind);
    make_units(&p, r, v);
    if (v->form == BITS)
        make_bits(&p, r, 1 + rng_below(r, 3));
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
    for (int k = 0; k < case_times() * VARIANTS; k++)
        for (int round = 0; round < 8; round++)
            try_one(&r, &variants[k % VARIANTS], round);
}

/* Rows of A of `left` entries each, and of B of `degree`. */
static problem regular(rng *r, const variant *v, int64_t nrows, int64_t left, int64_t ninner, int64_t ncols,
                       int64_t degree)
{
    problem p = {.nrows = nrows, .ninner = ninner, .ncols = ncols, .tile = (int)ncols, .warps = 4};
    p.arow = calloc((size_t)nrows + 1, sizeof *p.arow);
    p.brow_host = calloc((size_t)ninner + 1, sizeof *p.brow_host);
    p.brow = case_memory(ninner + 1, sizeof *p.brow, "brow");
    p.brow[0] = 0;
    for (int64_t i = 0; i < nrows; i++)
        p.arow[i + 1] = p.arow[i] + left;
    for (int64_t k = 0; k < ninner; k++)
        p.brow[k + 1] = p.brow_host[k + 1] = p.brow_host[k] + degree;
    p.acol = columns(r, p.arow, nrows, ninner, "acol");
    p.bcol = columns(r, p.brow_host, ninner, ncols, "bcol");
    make_values(&p, r, v, WHOLE);
    make_units(&p, r, v);
    return p;
}

/* Runs it, and sees that its sectors are those of a formula, beside `entries`: two words are written for each
 * in a run of 32 columns. */
static void check_sectors(problem *p, rng *r, const variant *v, double least, double formula)
{
    const simt_report report = run(p, v, 32, false, (simt_options){.seed = rng_bits(r), .count = 1});
    double entries = 0;
    for (int64_t u = 0; u < p->nunits; u++)
        entries += p->counts[u];
    formula += entries / 4 + 2 * (double)p->nrows * (double)p->ncols / 32;
    if (!((double)report.global_sectors > least && (double)report.global_sectors <= 1.05 * formula))
        fail_msg("%s: %lld sectors, not %g", v->name, (long long)report.global_sectors, formula);
    for (int64_t u = 0; u < p->nunits; u++)
        check_unit(p, v, &p->units[u], p->counts[u], WHOLE);
}

enum { N = 1000, DEGREE = 60, ROWS_OF_A = 40, LEFT = ROWS_OF_A * DEGREE };

/* A row of B is read 32 columns at a time, in whole sectors but for both ends of those, and its two pointers,
 * a sector each; of A eight entries a sector. */
static void test_sectors(void **state)
{
    rng r = rng_new();
    (void)state;
    const variant *v = find("spgemm_pair_dense_16");
    problem p = regular(&r, v, ROWS_OF_A, DEGREE, N, N, DEGREE);
    check_sectors(&p, &r, v, LEFT * DEGREE / 8.0, LEFT * (DEGREE / 8.0 + 2 + 2 + 1 / 8.0));
    release(&p);
}

/* All columns are bits of one line: 128 bytes for a left entry, which A is read for once more; a row reads
 * the list of them, and each of its 4 warps looks for its first and last there. */
static void test_bits(void **state)
{
    rng r = rng_new();
    (void)state;
    const variant *v = find("spgemm_pair_bits_16");
    problem p = regular(&r, v, ROWS_OF_A, DEGREE, N, N, DEGREE);
    make_bits(&p, &r, 1);
    assert_int_equal(p.nhot, N);
    check_sectors(&p, &r, v, LEFT * 4, LEFT * (4 + 2 + 2 / 8.0) + ROWS_OF_A * (N / 8.0 + 4 * 2 * 10));
    release(&p);
}

/* Counts with every digit that a warp has for them, in parts that it can count, of one warp and of some. */
static void test_digits(void **state)
{
    static const int bits[] = {16, 32};
    rng r = rng_new();
    (void)state;
    for (int round = 0; round < 4; round++) {
        const variant *v = find(bits[round % 2] == 16 ? "spgemm_pair_bits_16" : "spgemm_pair_bits_32");
        problem p = regular(&r, v, 1, 9000, 9001, 7, round < 2 ? 7 : 4);
        p.warps = round < 2 ? 1 : 3;
        make_bits(&p, &r, 1 + round / 3);
        run(&p, v, 32, false, (simt_options){.seed = rng_bits(&r)});
        check_unit(&p, v, &p.units[0], p.counts[0], WHOLE);
        release(&p);
    }
}

/* Lanes with neighbouring cells ask no bank twice, however many values a cell has: words of 8 bytes take two
 * passes, as they must. */
static void test_banks(void **state)
{
    static const char *const names[] = {"spgemm_times_f32_dense",   "spgemm_table_f32_2_dense",
                                        "spgemm_table_f32_4_dense", "spgemm_table_f32_8_dense",
                                        "spgemm_times_f64_dense",   "spgemm_table_f64_4_dense",
                                        "spgemm_table_u64_2_dense"};
    rng r = rng_new();
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const variant *v = find(names[k]);
        problem p = regular(&r, v, 2, 128, 128, 128, 128);
        const simt_report report = run(&p, v, 32, false, (simt_options){.seed = rng_bits(&r), .count = 1});
        const double passes = (double)report.shared_passes / (double)report.shared_requests;
        if (!(report.shared_requests > 1000 && passes <= 1.01 * v->size / 4))
            fail_msg("%s: %g passes over banks for a request", v->name, passes);
        release(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors),
                                       cmocka_unit_test(test_bits), cmocka_unit_test(test_digits),
                                       cmocka_unit_test(test_banks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
