/* Tiles of sparse x block by tensor cores: every variant of the table in the emulator, of strips that are
 * multiplied and of strips that are walked, against slow sums in double, and what it reads and writes beside
 * the formula in the head comment. All columns are hot here; the others, and whole calls, are
 * test_gpu_spmm_tensor.c's. */
#include "support/simt_case.h"

#include "core/core.h"
#include "gpu/kernels/spmm_tensor.h"

enum { f32, f16, bf16, tf32 };
enum { COPY, EDGE, HEADS };
typedef struct variant {
    const char *name;
    int stored, operand, edge;
} variant;
#define ROW(stored, operand, edge)                                                                           \
    {"spmm_tensor_" #stored "_" #operand "_PLUS_" #edge, stored, operand, edge},
static const variant variants[] = {FTB_SPMM_TENSOR(ROW)};
enum { VARIANTS = sizeof variants / sizeof *variants, PIECES = FTB_SPMM_HYBRID_PIECES };
enum { STRIP = FTB_SPMM_TENSOR_ROWS, DENSE = 16 };

/* How full strips are, of 100 places; those with an odd number may be others. */
typedef struct shape {
    int64_t nrows, ncols, tile;
    int even, odd, heads, width, pad;
} shape;

typedef struct problem {
    shape of;
    int64_t nblocks, ntiles, n, steps; /* steps: of half a warp over the entries of a row in a tile */
    int64_t d, ld;
    bool *there; /* nrows x ncols */
    ftb_spmm_piece *pieces;
    int *tile_start, *column_start, *columns, *entry_start;
    unsigned short *count, *entries;
    int64_t *entry_of; /* of row i and column j, in the form's order */
    void *stored;
    float *x, *w, *starts;
} problem;

static FtB_Type stored_type(const variant *v)
{
    return v->stored == f32 ? FTB_FP32 : v->stored == f16 ? FTB_FP16 : FTB_BF16;
}

static void make_places(problem *p, rng *r)
{
    p->there = calloc((size_t)(p->of.nrows * p->of.ncols), sizeof *p->there);
    p->entry_of = malloc((size_t)(p->of.nrows * p->of.ncols) * sizeof *p->entry_of);
    assert_true(p->there && p->entry_of);
    for (int64_t i = 0; i < p->of.nrows; i++)
        for (int64_t j = 0; j < p->of.ncols; j++)
            p->n += p->there[i * p->of.ncols + j] =
                i % 13 != 5 && rng_below(r, 100) < (i / STRIP % 2 ? p->of.odd : p->of.even);
}

/* Columns first .. first + n - 1 of block b are a tile. */
static void make_tile(problem *p, int64_t b, int64_t first, int64_t n, int64_t *at)
{
    for (int64_t k = 0; k < n; k++)
        p->columns[p->column_start[p->ntiles] + k] = (int)(first + k);
    for (int64_t k = 0; k < PIECES; k++) {
        const int64_t i = b * PIECES + k, before = *at;
        if (k % FTB_SPMM_HYBRID_STEP == 0)
            p->entry_start[(p->ntiles * PIECES + k) / FTB_SPMM_HYBRID_STEP] = (int)*at;
        for (int64_t j = first; i < p->of.nrows && j < first + n; j++)
            if (p->there[i * p->of.ncols + j]) {
                p->entry_of[i * p->of.ncols + j] = *at;
                p->entries[(*at)++] = (unsigned short)(j - first);
            }
        p->count[p->ntiles * PIECES + k] = (unsigned short)(*at - before);
        p->steps += (*at - before + 15) / 16;
    }
    p->column_start[p->ntiles + 1] = p->column_start[p->ntiles] + (int)n;
    p->ntiles++;
}

static void make_form(problem *p)
{
    const int64_t nblocks = (p->of.nrows + PIECES - 1) / PIECES,
                  tiles = nblocks * ((p->of.ncols + p->of.tile - 1) / p->of.tile);
    int64_t at = 0;
    p->nblocks = nblocks;
    p->pieces = case_memory(p->of.nrows, sizeof *p->pieces, "pieces");
    p->tile_start = case_memory(nblocks + 1, sizeof(int), "tile_start");
    p->column_start = case_memory(tiles + 1, sizeof(int), "column_start");
    p->columns = case_memory(nblocks * p->of.ncols, sizeof(int), "columns");
    p->entry_start = case_memory(tiles * PIECES / FTB_SPMM_HYBRID_STEP, sizeof(int), "entry_start");
    p->count = case_memory(tiles * PIECES, sizeof *p->count, "count");
    p->entries = case_memory(p->n, sizeof *p->entries, "entries");
    for (int64_t i = 0; i < p->of.nrows; i++)
        p->pieces[i] = (ftb_spmm_piece){0, 0, (int)i, -1};
    p->tile_start[0] = p->column_start[0] = 0;
    for (int64_t b = 0; b < nblocks; b++) {
        for (int64_t j = 0; j < p->of.ncols; j += p->of.tile)
            make_tile(p, b, j, p->of.ncols - j < p->of.tile ? p->of.ncols - j : p->of.tile, &at);
        p->tile_start[b + 1] = (int)p->ntiles;
    }
}

static problem make_problem(rng *r, const variant *v, const shape *of)
{
    problem p = {.of = *of, .d = (int64_t)of->heads * of->width};
    p.ld = p.d + of->pad;
    make_places(&p, r);
    make_form(&p);
    p.x = malloc((size_t)(of->ncols * p.ld + 1) * sizeof *p.x);
    assert_non_null(p.x);
    for (int64_t k = 0; k < of->ncols * p.ld; k++)
        p.x[k] = k % p.ld < p.d ? case_value(r, REAL) : NAN;
    p.stored = case_memory(of->ncols * p.ld, FtB_Type_size(stored_type(v)), "x");
    ftb_cast(p.stored, stored_type(v), p.x, FTB_FP32, of->ncols * p.ld);
    ftb_cast(p.x, FTB_FP32, p.stored, stored_type(v), of->ncols * p.ld);
    p.w = case_memory(p.n * of->heads, sizeof *p.w, "w");
    for (int64_t k = 0; k < p.n * of->heads; k++)
        p.w[k] = case_value(r, REAL);
    p.starts = case_memory(of->nrows * p.ld, sizeof *p.starts, "starts");
    for (int64_t k = 0; k < of->nrows * p.ld; k++)
        p.starts[k] = -77;
    return p;
}

static void release(problem *p)
{
    void *all[] = {p->pieces, p->tile_start, p->column_start, p->columns, p->entry_start,
                   p->count,  p->entries,    p->stored,       p->w,       p->starts};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        case_forget(all[k]);
    free(p->there);
    free(p->entry_of);
    free(p->x);
}

static simt_report run(const problem *p, const variant *v, simt_options o)
{
    const int operand = v->operand == tf32 ? 4 : 2, stored = (int)FtB_Type_size(stored_type(v));
    simt_report report;
    ftb_spmm_tensor_arguments t = {.hybrid = {.direct = {.npieces = p->of.nrows,
                                                         .pieces = p->pieces,
                                                         .x = p->stored,
                                                         .w = v->edge == COPY ? NULL : p->w,
                                                         .start = p->starts,
                                                         .ldx = p->ld,
                                                         .ldw = p->of.heads,
                                                         .ldstart = p->ld,
                                                         .d = (int)p->d,
                                                         .width = p->of.width},
                                              .tile_start = p->tile_start,
                                              .column_start = p->column_start,
                                              .columns = p->columns,
                                              .entry_start = p->entry_start,
                                              .count = p->count,
                                              .entries = p->entries,
                                              .tile = (int)p->of.tile},
                                   .dense = DENSE,
                                   .vectors = p->d % 4 == 0 && p->ld % 4 == 0};
    const unsigned features = FTB_SPMM_TENSOR_FEATURES;
    case_launch_shared(v->name,
                       (simt_dim){(unsigned)p->nblocks, ((unsigned)p->d + features - 1) / features, 1},
                       FTB_SPMM_TENSOR_BLOCK, (unsigned)ftb_spmm_tensor_shared(p->of.tile, stored, operand),
                       (void *[]){&t}, &o, &report);
    return report;
}

/* The bound of the head comment; what is no feature stays. */
static void check(const problem *p, const variant *v)
{
    const double u = v->operand == bf16 ? 0x1p-8 : 0x1p-11;
    for (int64_t i = 0; i < p->of.nrows; i++)
        for (int64_t f = 0; f < p->ld; f++) {
            double sum = 0, size = 0, n = 0;
            for (int64_t j = 0; f < p->d && j < p->of.ncols; j++) {
                const int64_t at = i * p->of.ncols + j;
                if (!p->there[at])
                    continue;
                const int64_t w = p->entry_of[at] * p->of.heads + (v->edge == HEADS ? f / p->of.width : 0);
                const double term = (v->edge == COPY ? 1 : (double)p->w[w]) * p->x[j * p->ld + f];
                sum += term;
                size += fabs(term);
                n++;
            }
            const double small = v->operand == f16 ? n * 0x1p-24 : 0, got = p->starts[i * p->ld + f];
            const double bound = (2 * u + u * u + n * 0x1p-22) * size + small;
            if (f < p->d ? !(fabs(got - sum) <= bound) : got != -77)
                fail_msg("%s: (%d, %d) is %.9g, not %.9g +- %g", v->name, (int)i, (int)f, got, sum, bound);
        }
}

static void try_one(rng *r, const variant *v, const shape *of)
{
    shape here = *of;
    if (v->edge != HEADS) {
        here.width *= here.heads;
        here.heads = 1;
    }
    problem p = make_problem(r, v, &here);
    run(&p, v, (simt_options){.seed = rng_bits(r), .resident = 2});
    check(&p, v);
    float *const first = malloc((size_t)(here.nrows * p.ld) * sizeof *first);
    assert_non_null(first);
    memcpy(first, p.starts, (size_t)(here.nrows * p.ld) * sizeof *first);
    run(&p, v, (simt_options){.seed = rng_bits(r)}); /* in whatever order: the same bits */
    assert_memory_equal(first, p.starts, (size_t)(here.nrows * p.ld) * sizeof *first);
    free(first);
    release(&p);
}

/* All variants have the first shape, some of them the others, or all. Less than a strip, and a tile that is
 * not full; strips of both kinds, in tiles of which the last is short; more than a block of pieces, and than
 * 32 features; heads of 8 and of 16. */
static void test_variants(void **state)
{
    static const shape shapes[] = {
        {9, 21, 32, 90, 0, 1, 8, 0}, {70, 100, 64, 60, 4, 2, 16, 4}, {530, 40, 32, 40, 3, 3, 8, 8}};
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    rng r = rng_new();
    (void)state;
    for (int k = 0; k < VARIANTS; k++)
        for (int s = 0; s < SHAPES; s++)
            if (case_all() || k % (s == 0 ? 1 : 2 * s + 1) == s / 2)
                try_one(&r, &variants[k], &shapes[s]);
}

/* The formula in the head comment: of strips that are all multiplied, and of strips that are all walked. */
static void count_sectors(rng *r, const variant *v, bool multiplied)
{
    enum { ROWS = 1000, FT = 2 };
    const shape of = {ROWS, 200, 64, multiplied ? 60 : 6, multiplied ? 60 : 6, 1, 32 * FT, 0};
    problem p = make_problem(r, v, &of);
    const simt_report report = run(&p, v, (simt_options){.seed = rng_bits(r), .count = 1});
    check(&p, v);
    const double v_bytes = (double)FtB_Type_size(stored_type(v)), m = p.column_start[p.ntiles],
                 n = (double)p.n, h = (double)p.steps, t = (double)p.ntiles, work = FT * v_bytes * m;
    const double places = multiplied ? n / 8 + 15 * h / 8 : n, weights = multiplied ? n / 8 + 7 * h / 8 : n;
    const double formula = work + FT * (m / 4 + 192 * t + 64 * (double)p.nblocks + 6.0 * ROWS + places +
                                        (v->edge == EDGE ? weights : 0)),
                 got = (double)report.global_sectors;
    if (!(got >= (multiplied ? 0.9 : 0.6) * formula && got <= 1.05 * formula))
        fail_msg("%s: %g sectors, not %g", v->name, got, formula);
    release(&p);
}

static void test_sectors(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int k = 0; k < VARIANTS; k++)
        if (variants[k].edge != HEADS && (case_all() || k % 10 == 0))
            for (int multiplied = 0; multiplied < 2; multiplied++)
                count_sectors(&r, &variants[k], multiplied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
