/* Sparse x block on a GPU, hybrid: every variant of the table in the emulator, with the direct kernel behind
 * it, against slow loops: in double, and to the bit in the order of sums that is promised. The form is made
 * here by counting, not by the library. */
#include "support/simt_case.h"

#include "core/core.h"
#include "gpu/kernels/spmm_hybrid.h"

enum { f32, f16, bf16 };
enum { PLUS, BEST };
enum { COPY, EDGE, HEADS };
typedef struct variant {
    const char *name, *rest4, *rest1; /* of the direct kernel, four values at a time and one */
    int stored, reduce, edge, lanes, values;
    int grain; /* of features: what rows are multiples of */
} variant;
#define ROW(stored, reduce, edge, lanes, values)                                                             \
    {"spmm_hybrid_" #stored "_" #reduce "_" #edge "_" #lanes "x" #values,                                    \
     "spmm_direct_" #stored "_" #reduce "_" #edge "_8x4",                                                    \
     "spmm_direct_" #stored "_" #reduce "_" #edge "_4x1",                                                    \
     stored,                                                                                                 \
     reduce,                                                                                                 \
     edge,                                                                                                   \
     lanes,                                                                                                  \
     values,                                                                                                 \
     values},
#define BULK(stored, reduce, edge, lanes, values)                                                            \
    {"spmm_hybrid_" #stored "_" #reduce "_" #edge "_" #lanes "x" #values "_bulk",                            \
     "spmm_direct_" #stored "_" #reduce "_" #edge "_8x4",                                                    \
     "spmm_direct_" #stored "_" #reduce "_" #edge "_4x1",                                                    \
     stored,                                                                                                 \
     reduce,                                                                                                 \
     edge,                                                                                                   \
     lanes,                                                                                                  \
     values,                                                                                                 \
     8},
static const variant variants[] = {FTB_SPMM_HYBRID(ROW) FTB_SPMM_HYBRID_BULK(BULK)};
enum { VARIANTS = sizeof variants / sizeof *variants, PIECES = FTB_SPMM_HYBRID_PIECES, BOUND = 40 };

typedef struct problem {
    int64_t nrows, ncols, n, npieces, ncuts, nblocks, threshold, tile, ntiles, nhot, visits, ncolumns;
    int64_t *rowptr;
    bool *hot; /* of each entry */
    ftb_spmm_piece *pieces;
    ftb_spmm_cut *cuts;
    int *colidx, *tile_start, *column_start, *columns, *entry_start, *rest, *cold, *order;
    unsigned short *count, *entries;
    void *stored;
    float *x, *w, *ordered, *y, *starts, *partial, *old;
    long long *from;
    int pad;
    ftb_spmm_direct_arguments a;
} problem;

/* Some columns are used much, most seldom. */
static int skewed(rng *r, int64_t ncols)
{
    return (int)rng_below(r, 1 + rng_below(r, 1 + rng_below(r, ncols)));
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void cut_rows(problem *p)
{
    p->pieces = case_memory(p->nrows + p->n / BOUND, sizeof *p->pieces, "pieces");
    p->cuts = case_memory(p->n / BOUND + 1, sizeof *p->cuts, "cuts");
    int slot = 0;
    for (int64_t i = 0; i < p->nrows; i++) {
        const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
        if (end - begin > BOUND)
            p->cuts[p->ncuts++] = (ftb_spmm_cut){.entries = end - begin,
                                                 .row = (int)i,
                                                 .slot = slot,
                                                 .count = (int)((end - begin + BOUND - 1) / BOUND)};
        for (int64_t e = begin; e == begin || e < end; e += BOUND)
            p->pieces[p->npieces++] = (ftb_spmm_piece){e, e + BOUND < end ? e + BOUND : end, (int)i,
                                                       end - begin > BOUND ? slot++ : -1};
    }
    p->partial = case_memory((int64_t)slot * p->a.ldp, sizeof(float), "partial");
    p->nblocks = (p->npieces + PIECES - 1) / PIECES;
}

static int64_t uses_of(const problem *p, int64_t b, int column)
{
    int64_t uses = 0;
    for (int64_t k = b * PIECES; k < (b + 1) * PIECES && k < p->npieces; k++)
        for (int64_t e = p->pieces[k].begin; e < p->pieces[k].end; e++)
            uses += p->colidx[e] == column;
    return uses;
}

/* One tile: of columns[0 .. n - 1]. */
static void make_tile(problem *p, int64_t b, const int *columns, int64_t n)
{
    for (int64_t k = 0; k < PIECES; k++) {
        const int64_t number = b * PIECES + k, before = p->nhot;
        if (k % FTB_SPMM_HYBRID_STEP == 0)
            p->entry_start[(p->ntiles * PIECES + k) / FTB_SPMM_HYBRID_STEP] = (int)p->nhot;
        for (int64_t e = number < p->npieces ? p->pieces[number].begin : 0;
             number < p->npieces && e < p->pieces[number].end; e++)
            for (int64_t place = 0; place < n; place++)
                if (p->colidx[e] == columns[place]) {
                    p->hot[e] = true;
                    p->order[p->nhot] = (int)e;
                    p->entries[p->nhot++] = (unsigned short)place;
                }
        p->count[p->ntiles * PIECES + k] = (unsigned short)(p->nhot - before);
        p->visits += p->nhot > before;
    }
    p->column_start[++p->ntiles] = (int)(p->ncolumns += n);
}

static void make_form(problem *p)
{
    const int64_t most = p->nblocks * (p->ncols / p->tile + 1);
    p->tile_start = case_memory(p->nblocks + 1, sizeof(int), "tile_start");
    p->column_start = case_memory(most + 1, sizeof(int), "column_start");
    p->columns = case_memory(p->nblocks * p->ncols, sizeof(int), "columns");
    p->entry_start = case_memory(most * PIECES / FTB_SPMM_HYBRID_STEP, sizeof(int), "entry_start");
    p->count = case_memory(most * PIECES, sizeof *p->count, "count");
    p->entries = case_memory(p->n, sizeof *p->entries, "entries");
    p->rest = case_memory(p->npieces + 1, sizeof(int), "rest");
    p->cold = case_memory(p->n, sizeof(int), "cold");
    p->order = case_memory(p->n, sizeof(int), "order");
    p->hot = calloc((size_t)p->n + 1, sizeof *p->hot);
    assert_non_null(p->hot);
    p->tile_start[0] = p->column_start[0] = p->rest[0] = 0;
    for (int64_t b = 0; b < p->nblocks; b++) {
        int *columns = p->columns + p->ncolumns;
        int64_t n = 0;
        for (int j = 0; j < p->ncols; j++)
            if (uses_of(p, b, j) >= p->threshold)
                columns[n++] = j;
        for (int64_t k = 0; k < n; k += p->tile)
            make_tile(p, b, columns + k, k + p->tile < n ? p->tile : n - k);
        p->tile_start[b + 1] = (int)p->ntiles;
    }
    for (int64_t k = 0, rest = 0; k < p->npieces; k++) {
        for (int64_t e = p->pieces[k].begin; e < p->pieces[k].end; e++)
            if (!p->hot[e]) {
                p->order[p->nhot + rest] = (int)e;
                p->cold[rest++] = p->colidx[e];
            }
        p->rest[k + 1] = (int)rest;
    }
}

/* rowptr is there; gaps between rows hold NaN. */
static void fill(problem *p, rng *r, const variant *v, int heads, int width, values kind)
{
    const int pad = p->pad, d = heads * width, ld = d + pad * v->grain;
    const int ldw = v->edge == HEADS ? heads + pad : 1 + pad;
    p->n = p->rowptr[p->nrows];
    p->a = (ftb_spmm_direct_arguments){.ldx = ld, .ldw = ldw, .ldy = ld, .ldp = d, .d = d, .width = width};
    p->colidx = case_memory(p->n, sizeof *p->colidx, "colidx");
    p->x = malloc((size_t)(p->ncols * ld + 1) * sizeof(float));
    p->old = malloc((size_t)(p->nrows * ld + 1) * sizeof(float));
    assert_true(p->x && p->old);
    p->w = case_memory(p->n * ldw, sizeof(float), "w");
    p->ordered = case_memory(p->n * heads, sizeof(float), "ordered");
    p->y = case_memory(p->nrows * ld, sizeof(float), "y");
    p->starts = case_memory(p->nrows * ld, sizeof(float), "starts");
    for (int64_t e = 0; e < p->n; e++)
        p->colidx[e] = skewed(r, p->ncols);
    for (int64_t i = 0; i < p->nrows; i++)
        qsort(p->colidx + p->rowptr[i], (size_t)(p->rowptr[i + 1] - p->rowptr[i]), sizeof(int), ascending);
    for (int64_t k = 0; k < p->ncols * ld; k++)
        p->x[k] = k % ld < d ? case_value(r, kind) : NAN;
    const FtB_Type type = v->stored == f32 ? FTB_FP32 : v->stored == f16 ? FTB_FP16 : FTB_BF16;
    p->stored = case_memory(p->ncols * ld, FtB_Type_size(type), "x");
    ftb_cast(p->stored, type, p->x, FTB_FP32, p->ncols * ld);
    ftb_cast(p->x, FTB_FP32, p->stored, type, p->ncols * ld);
    for (int64_t k = 0; k < p->n * ldw; k++)
        p->w[k] = k % ldw < ldw - pad ? case_value(r, kind) : NAN;
    for (int64_t k = 0; k < p->nrows * ld; k++)
        p->old[k] = case_value(r, kind == ODD ? REAL : kind);
    cut_rows(p);
    make_form(p);
}

static void shuffle(problem *p, rng *r)
{
    p->from = case_memory(p->n, sizeof *p->from, "from");
    for (int64_t e = 0; e < p->n; e++) {
        const int64_t other = rng_below(r, e + 1);
        p->from[e] = p->from[other];
        p->from[other] = e;
    }
}

static void release(problem *p)
{
    void *all[] = {p->pieces,  p->cuts, p->colidx, p->tile_start, p->column_start, p->columns, p->entry_start,
                   p->rest,    p->cold, p->order,  p->count,      p->entries,      p->stored,  p->w,
                   p->ordered, p->y,    p->starts, p->partial,    p->from};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k])
            case_forget(all[k]);
    free(p->rowptr);
    free(p->hot);
    free(p->old);
    free(p->x);
}

static void launch(const char *name, simt_dim grid, unsigned block, size_t shared, void **arguments,
                   const simt_options *o, simt_report *report)
{
    const simt_kernel *kernel = simt_kernel_find(name);
    assert_non_null(kernel);
    if (simt_launch(kernel, grid, simt_line(block), shared, arguments, o, report) != 0) {
        simt_print(report, stdout);
        fail_msg("%s: faults", name);
    }
}

static void order_weights(const problem *p, int heads, const simt_options *o)
{
    const int shift = (int)(p->n % 4); /* any will do */
    ftb_spmm_hybrid_weights w = {.order = p->order,
                                 .w = p->w,
                                 .from = p->from,
                                 .to = p->ordered,
                                 .ldw = p->a.ldw,
                                 .entries = (int)p->n,
                                 .heads = heads,
                                 .shift = shift};
    const int entries = FTB_SPMM_HYBRID_WEIGHTS_BLOCK >> shift;
    simt_report report;
    if (p->n > 0)
        case_launch("spmm_hybrid_weights", simt_line((unsigned)((p->n - 1) / entries + 1)),
                    FTB_SPMM_HYBRID_WEIGHTS_BLOCK, (void *[]){&w}, o, &report);
}

/* The report is of the hybrid kernel alone. */
static simt_report run(problem *p, const variant *v, simt_options o)
{
    simt_report report, other;
    const int heads = v->edge == HEADS ? p->a.d / p->a.width : 1;
    ftb_spmm_direct_arguments a = p->a;
    a.npieces = p->npieces;
    a.pieces = p->pieces;
    a.x = p->stored;
    a.y = p->y;
    a.partial = p->partial;
    a.start = a.add ? p->starts : p->y;
    a.ldstart = a.add ? a.ldp : a.ldy;
    memcpy(p->y, p->old, (size_t)(p->nrows * a.ldy) * sizeof(float));
    memset(p->starts, 0xff, (size_t)(p->nrows * a.ldy) * sizeof(float));
    if (v->edge != COPY) {
        order_weights(p, heads, &o);
        a.w = p->ordered;
        a.ldw = heads;
    }
    ftb_spmm_hybrid_arguments h = {.direct = a,
                                   .tile_start = p->tile_start,
                                   .column_start = p->column_start,
                                   .columns = p->columns,
                                   .entry_start = p->entry_start,
                                   .count = p->count,
                                   .entries = p->entries,
                                   .tile = (int)p->tile};
    const int features = v->lanes * v->values, lanes = v->values == 4 ? 8 : 4,
              groups = FTB_SPMM_DIRECT_BLOCK / lanes, tile = lanes * v->values;
    launch(v->name, (simt_dim){(unsigned)p->nblocks, (unsigned)((a.d + features - 1) / features), 1},
           FTB_SPMM_HYBRID_BLOCK,
           (size_t)(FTB_SPMM_HYBRID_STAGES * p->tile * features) * (v->stored == f32 ? 4 : 2), (void *[]){&h},
           &o, &report);
    a.rest = p->rest;
    a.colidx = p->cold;
    a.w = v->edge == COPY ? NULL : p->ordered + p->nhot * a.ldw;
    case_launch(
        v->values == 4 ? v->rest4 : v->rest1,
        (simt_dim){(unsigned)((p->npieces + groups - 1) / groups), (unsigned)((a.d + tile - 1) / tile), 1},
        FTB_SPMM_DIRECT_BLOCK, (void *[]){&a}, &o, &other);
    const ftb_spmm_cut *cuts = p->cuts;
    if (p->ncuts > 0)
        case_launch(v->reduce == BEST ? "spmm_direct_f32_BEST_merge" : "spmm_direct_f32_PLUS_merge",
                    (simt_dim){(unsigned)((a.d + FTB_SPMM_DIRECT_BLOCK - 1) / FTB_SPMM_DIRECT_BLOCK),
                               (unsigned)p->ncuts, 1},
                    FTB_SPMM_DIRECT_BLOCK, (void *[]){&a, &cuts}, &o, &other);
    return report;
}

static float weight(const problem *p, const variant *v, int64_t e, int64_t f)
{
    const float *w = p->w + (p->from ? p->from[e] : e) * p->a.ldw;
    return v->edge == COPY ? 1 : v->edge == EDGE ? w[0] : w[f / p->a.width];
}

static bool better(bool least, float x, float y)
{
    if (isnan(x) || isnan(y))
        return !isnan(x) && isnan(y);
    if (x == y)
        return signbit(x) != signbit(y) && (bool)signbit(x) == least;
    return least ? x < y : x > y;
}

static float message(const problem *p, const variant *v, int64_t e, int64_t f)
{
    const float z = p->x[p->colidx[e] * p->a.ldx + f];
    return v->edge == COPY ? z : weight(p, v, e, f) * z;
}

/* FP32, in the order that is promised: of each piece the hot entries, then the others; pieces in theirs. */
static float in_order(const problem *p, const variant *v, int64_t i, int64_t f)
{
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
    float sum = 0;
    for (int64_t at = begin; at < end; at += BOUND) {
        float piece = 0;
        for (int cold = 0; cold < 2; cold++)
            for (int64_t e = at; e < end && e < at + BOUND; e++)
                if (p->hot[e] != cold)
                    piece += message(p, v, e, f);
        sum = end - begin > BOUND ? sum + piece : piece;
    }
    if (p->a.mean && end - begin > 1)
        sum /= (float)(end - begin);
    return p->a.add ? sum + p->old[i * p->a.ldy + f] : sum;
}

/* Of which the order shows nothing. */
static float best_of(const problem *p, const variant *v, int64_t i, int64_t f)
{
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
    float best = begin < end ? message(p, v, begin, f) : p->a.empty;
    for (int64_t e = begin + 1; e < end; e++)
        best = better(p->a.least, message(p, v, e, f), best) ? message(p, v, e, f) : best;
    return p->a.add ? best + p->old[i * p->a.ldy + f] : best;
}

static void check(const problem *p, const variant *v)
{
    const int64_t ld = p->a.ldy;
    for (int64_t i = 0; i < p->nrows; i++) {
        for (int64_t f = 0; f < p->a.d; f++) {
            const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
            const double by = p->a.mean && end > begin ? (double)(end - begin) : 1;
            const double old = p->a.add ? p->old[i * ld + f] : 0, got = p->y[i * ld + f];
            double sum = 0, size = fabs(old);
            for (int64_t e = begin; e < end; e++) {
                const double z = (double)weight(p, v, e, f) * p->x[p->colidx[e] * p->a.ldx + f];
                sum += z / by;
                size += fabs(z) / by;
            }
            if (v->reduce == PLUS && !case_near(got, sum + old, (double)(end - begin + 4) * 0x1p-24 * size))
                fail_msg("%s: y(%d, %d) is %g, not %g", v->name, (int)i, (int)f, got, sum + old);
            const float same = v->reduce == PLUS ? in_order(p, v, i, f) : best_of(p, v, i, f);
            if (isnan(same) ? !isnan(got) : memcmp(&p->y[i * ld + f], &same, sizeof same) != 0)
                fail_msg("%s: y(%d, %d) is %.9g, in order %.9g", v->name, (int)i, (int)f, got, (double)same);
        }
        for (int64_t f = p->a.d; f < ld; f++) /* gaps stay */
            assert_memory_equal(&p->y[i * ld + f], &p->old[i * ld + f], sizeof(float));
    }
}

/* Tiles of one, few and many columns; all hot, some, none; two blocks of pieces, and less than one. */
static void try_one(rng *r, const variant *v, int round)
{
    static const struct {
        int64_t nrows, ncols, threshold, tile;
    } list[] = {{30, 40, 3, 7}, {12, 9, 2, 1}, {600, 60, 30, 64}, {20, 30, 1000, 8}};
    const values kind = (values)(round % 3);
    const int heads = v->edge == HEADS ? 1 + (int)rng_below(r, 4) : 1;
    const int width = v->grain * (1 + (int)rng_below(r, 44 / heads / v->grain));
    problem p = {.nrows = list[round].nrows,
                 .ncols = list[round].ncols,
                 .threshold = list[round].threshold,
                 .tile = list[round].tile,
                 .pad = round % 3};
    p.rowptr = case_rows(r, p.nrows, true);
    fill(&p, r, v, heads, width, kind);
    if (v->edge != COPY && round % 2)
        shuffle(&p, r);
    p.a.add = rng_below(r, 2) > 0;
    p.a.mean = rng_below(r, 2) > 0;
    p.a.least = rng_below(r, 2) > 0;
    p.a.empty = -7;
    assert_true((p.nhot > 0) == (p.threshold < 1000));
    assert_true(p.threshold < 3 || p.nhot < p.n);
    run(&p, v, (simt_options){.seed = rng_bits(r), .resident = 1 + round % 2 * 2});
    check(&p, v);
    release(&p);
}

static void test_variants(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++)
        for (int round = 0; round < 4; round++)
            if (case_all() ||
                (variants[k].grain > variants[k].values ? round == k % 4 /* but for copies others' kernels */
                                                        : round != 2 || k % 3 == 0)) /* much work */
                try_one(&r, &variants[k], round);
}

/* The formula in the head comment. */
static void count_sectors(rng *r, const variant *v)
{
    enum { ROWS = 1000, WIDTH = 64, FT = WIDTH / 32 };
    problem p = {.nrows = ROWS, .ncols = 200, .rowptr = case_skewed(), .threshold = 16, .tile = 64};
    fill(&p, r, v, 1, WIDTH, REAL);
    const simt_report report = run(&p, v, (simt_options){.seed = rng_bits(r), .count = 1});
    check(&p, v);
    const double work = FT * (double)p.ncolumns * (v->stored == f32 ? 4 : 2), n = (double)p.nhot;
    const double batches = n / 8 + (double)p.visits / 2;
    const double formula =
        work + FT * ((double)p.ncolumns / 4 + 80 * (double)p.ntiles + 32 * (double)p.nblocks +
                     6 * (double)p.npieces + (v->edge == EDGE ? 5 : 2) * batches);
    if (!((double)report.global_sectors >= work && (double)report.global_sectors <= 1.05 * formula))
        fail_msg("%s: %lld sectors, not %g", v->name, (long long)report.global_sectors, formula);
    /* No bank is asked twice at a time. */
    const double passes = FT * (n + (double)p.ncolumns);
    if (v->stored == f32 && (double)report.shared_passes > 1.05 * passes)
        fail_msg("%s: %lld passes, not %g", v->name, (long long)report.shared_passes, passes);
    release(&p);
}

static void test_sectors(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++)
        if (variants[k].edge != HEADS && variants[k].values == 4 && variants[k].grain == 4 &&
            variants[k].reduce == PLUS)
            count_sectors(&r, &variants[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
