/* Sparse x block on a GPU, direct: every variant of the table in the emulator, against slow loops in double,
 * and of FP64 in long double. */
#include "support/simt_case.h"

#include "core/core.h"
#include "gpu/kernels/spmm_direct.h"

enum { f32, f16, bf16, f64, f32as64 };
enum { PLUS, BEST };
enum { COPY, EDGE, HEADS };
typedef struct variant {
    const char *name;
    int stored, reduce, edge, lanes, values;
} variant;
#define ROW(stored, reduce, edge, lanes, values)                                                             \
    {"spmm_direct_" #stored "_" #reduce "_" #edge "_" #lanes "x" #values,                                    \
     stored,                                                                                                 \
     reduce,                                                                                                 \
     edge,                                                                                                   \
     lanes,                                                                                                  \
     values},
static const variant variants[] = {FTB_SPMM_DIRECT(ROW)};
enum { VARIANTS = sizeof variants / sizeof *variants };

typedef struct problem {
    int64_t nrows, ncols, npieces, ncuts;
    int64_t *rowptr;
    ftb_spmm_piece *pieces;
    ftb_spmm_cut *cuts;
    int *colidx;
    FtB_Type type, wtype;                 /* that is computed in; of weights */
    void *stored, *weights, *y, *partial; /* as the kernel has x and w */
    double *x, *w, *old;
    long long *won, *partial_won, *from;
    bool wants_winners;
    ftb_spmm_direct_arguments a;
} problem;

/* Pieces in the order of rows. */
static void cut_rows(problem *p, int64_t bound)
{
    const int64_t n = p->rowptr[p->nrows];
    p->pieces = case_memory(p->nrows + n / bound, sizeof *p->pieces, "pieces");
    p->cuts = case_memory(n / bound + 1, sizeof *p->cuts, "cuts");
    int slot = 0;
    for (int64_t i = 0; i < p->nrows; i++) {
        const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
        if (end - begin <= bound) {
            p->pieces[p->npieces++] = (ftb_spmm_piece){begin, end, (int)i, -1};
            continue;
        }
        ftb_spmm_cut *cut = &p->cuts[p->ncuts++];
        *cut = (ftb_spmm_cut){.entries = end - begin, .row = (int)i, .slot = slot};
        for (int64_t e = begin; e < end; e += bound, cut->count++)
            p->pieces[p->npieces++] = (ftb_spmm_piece){e, e + bound < end ? e + bound : end, (int)i, slot++};
    }
    p->a.npieces = p->npieces;
    p->partial = case_memory((int64_t)slot * p->a.ldp, FtB_Type_size(p->type), "partial");
    p->partial_won = case_memory((int64_t)slot * p->a.ldp, sizeof(long long), "partial_won");
}

static double *new_values(rng *r, int64_t count, values kind, bool wide)
{
    double *x = malloc((size_t)(count + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t k = 0; k < count; k++) {
        x[k] = case_value(r, kind);
        if (wide && kind != WHOLE)
            x[k] += (rng_unit(r) - 0.5) * 0x1p-24; /* more digits than FP32 has */
    }
    return x;
}

/* As a kernel has them, and the values themselves as those are, rounded. */
static void *store_values(double *x, FtB_Type type, int64_t count, const char *name)
{
    void *stored = case_memory(count, FtB_Type_size(type), name);
    ftb_cast(stored, type, x, FTB_FP64, count);
    ftb_cast(x, FTB_FP64, stored, type, count);
    return stored;
}

static FtB_Type stored_type(const variant *v)
{
    static const FtB_Type types[] = {FTB_FP32, FTB_FP16, FTB_BF16, FTB_FP64, FTB_FP32};
    return types[v->stored];
}

/* rowptr is there; gaps between rows hold NaN, which must not come into sums. */
static void fill(problem *p, rng *r, const variant *v, int heads, int width, int pad, values kind)
{
    const int64_t n = p->rowptr[p->nrows];
    const int d = heads * width, ldw = v->edge == HEADS ? heads + pad : 1 + pad;
    const int ld = d + pad * v->values;
    const bool wide = v->stored >= f64;
    p->type = wide ? FTB_FP64 : FTB_FP32;
    p->wtype = v->stored == f32as64 || (wide && pad % 2 == 0) ? FTB_FP64 : FTB_FP32;
    p->a = (ftb_spmm_direct_arguments){.ldx = ld,
                                       .ldw = ldw,
                                       .ldy = ld,
                                       .ldp = ld,
                                       .ldwon = d,
                                       .d = d,
                                       .width = width,
                                       .wide = p->wtype == FTB_FP64,
                                       .empty = -7};
    p->colidx = case_memory(n, sizeof *p->colidx, "colidx");
    p->y = case_memory(p->nrows * ld, FtB_Type_size(p->type), "y");
    p->won = case_memory(p->nrows * d, sizeof *p->won, "won");
    for (int64_t e = 0; e < n; e++)
        p->colidx[e] = (int)rng_below(r, p->ncols);
    p->x = new_values(r, p->ncols * ld, kind, wide);
    for (int64_t k = 0; k < p->ncols * ld; k++)
        p->x[k] = k % ld < d ? p->x[k] : NAN;
    p->stored = store_values(p->x, stored_type(v), p->ncols * ld, "x");
    p->w = new_values(r, n * ldw, kind, wide);
    for (int64_t k = 0; k < n * ldw; k++)
        p->w[k] = k % ldw < ldw - pad ? p->w[k] : NAN;
    p->weights = store_values(p->w, p->wtype, n * ldw, "w");
    p->old = new_values(r, p->nrows * ld, kind == ODD ? REAL : kind, wide);
    ftb_cast(p->y, p->type, p->old, FTB_FP64, p->nrows * ld);
    ftb_cast(p->old, FTB_FP64, p->y, p->type, p->nrows * ld);
}

/* Weights are in another order. */
static void shuffle(problem *p, rng *r)
{
    const int64_t n = p->rowptr[p->nrows];
    p->from = case_memory(n, sizeof *p->from, "from");
    for (int64_t e = 0; e < n; e++) {
        const int64_t other = rng_below(r, e + 1);
        p->from[e] = p->from[other];
        p->from[other] = e;
    }
    p->a.from = p->from;
}

static void release(problem *p)
{
    void *all[] = {p->pieces, p->cuts,    p->colidx, p->stored,      p->weights,
                   p->y,      p->partial, p->won,    p->partial_won, p->from};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k])
            case_forget(all[k]);
    free(p->rowptr);
    free(p->old);
    free(p->x);
    free(p->w);
}

static simt_report run(problem *p, const variant *v, simt_options o)
{
    simt_report report, merge;
    ftb_spmm_direct_arguments a = p->a;
    a.pieces = p->pieces;
    a.colidx = p->colidx;
    a.x = p->stored;
    a.w = v->edge == COPY ? NULL : p->weights;
    a.y = p->y;
    a.partial = p->partial;
    a.won = p->wants_winners ? p->won : NULL;
    a.partial_won = p->wants_winners ? p->partial_won : NULL;
    memset(p->won, 0x55, (size_t)(p->nrows * a.ldwon) * sizeof *p->won);
    ftb_cast(p->y, p->type, p->old, FTB_FP64, p->nrows * a.ldy);
    const int groups = FTB_SPMM_DIRECT_BLOCK / v->lanes, tile = v->lanes * v->values;
    case_launch(
        v->name,
        (simt_dim){(unsigned)((p->npieces + groups - 1) / groups), (unsigned)((a.d + tile - 1) / tile), 1},
        FTB_SPMM_DIRECT_BLOCK, (void *[]){&a}, &o, &report);
    const ftb_spmm_cut *cuts = p->cuts;
    char merges[64];
    snprintf(merges, sizeof merges, "spmm_direct_%s_%s_merge", p->type == FTB_FP64 ? "f64" : "f32",
             v->reduce == BEST ? "BEST" : "PLUS");
    if (p->ncuts > 0)
        case_launch(merges,
                    (simt_dim){(unsigned)((a.d + FTB_SPMM_DIRECT_BLOCK - 1) / FTB_SPMM_DIRECT_BLOCK),
                               (unsigned)p->ncuts, 1},
                    FTB_SPMM_DIRECT_BLOCK, (void *[]){&a, &cuts}, &o, &merge);
    return report;
}

static double weight(const problem *p, const variant *v, int64_t e, int64_t f)
{
    const double *w = p->w + (p->from ? p->from[e] : e) * p->a.ldw;
    return v->edge == COPY ? 1 : v->edge == EDGE ? w[0] : w[f / p->a.width];
}

static double source(const problem *p, int64_t e, int64_t f) { return p->x[p->colidx[e] * p->a.ldx + f]; }

static void check_sum(const problem *p, const variant *v, values kind, int64_t i, int64_t f)
{
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1], at = i * p->a.ldy + f;
    const double by = p->a.mean && end > begin ? (double)(end - begin) : 1, old = p->a.add ? p->old[at] : 0;
    long double sum = 0, size = 0;
    for (int64_t e = begin; e < end; e++) {
        const long double one = (long double)weight(p, v, e, f) * source(p, e, f);
        sum += one;
        size += fabsl(one);
    }
    const bool wide = p->type == FTB_FP64;
    const double exact = wide ? (double)sum / by + old : (double)((float)sum / (float)by + (float)old);
    const double got = ftb_get_real(p->y, p->type, at), unit = wide ? 0x1p-53 : 0x1p-24;
    const double bound = (double)(end - begin + 3) * unit * ((double)size / by + fabs(old));
    if (kind == WHOLE ? got != exact : !case_near(got, (double)(sum / by + old), bound))
        fail_msg("%s: y(%d, %d) is %.17g, not %.17g", v->name, (int)i, (int)f, got, exact);
}

static bool better(bool least, double x, double y)
{
    if (isnan(x) || isnan(y))
        return !isnan(x) && isnan(y);
    if (x == y)
        return signbit(x) != signbit(y) && (bool)signbit(x) == least;
    return least ? x < y : x > y;
}

/* As it is rounded: a product of FP32 in double is exact. */
static double rounded(const problem *p, double x) { return p->type == FTB_FP64 ? x : (double)(float)x; }

/* To the bit. */
static void check_best(const problem *p, const variant *v, int64_t i, int64_t f)
{
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1], at = i * p->a.ldy + f;
    int64_t won = -1;
    double best = p->a.empty;
    for (int64_t e = begin; e < end; e++) {
        const double m = rounded(p, weight(p, v, e, f) * source(p, e, f));
        if (won >= 0 && !better(p->a.least, m, best))
            continue;
        best = m;
        won = e;
    }
    const double expected = p->a.add ? rounded(p, best + p->old[at]) : best,
                 got = ftb_get_real(p->y, p->type, at);
    if (isnan(expected) ? !isnan(got) : memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s: y(%d, %d) is %.17g, not %.17g", v->name, (int)i, (int)f, got, expected);
    const int64_t told = p->won[i * p->a.ldwon + f];
    if (p->wants_winners && told != won)
        fail_msg("%s: y(%d, %d) won by %d, not %d", v->name, (int)i, (int)f, (int)told, (int)won);
}

static void check(const problem *p, const variant *v, values kind)
{
    const int64_t ld = p->a.ldy;
    for (int64_t i = 0; i < p->nrows; i++) {
        for (int64_t f = 0; f < p->a.d; f++)
            if (v->reduce == BEST)
                check_best(p, v, i, f);
            else
                check_sum(p, v, kind, i, f);
        for (int64_t f = p->a.d; f < ld; f++) /* gaps stay */
            assert_true(ftb_get_real(p->y, p->type, i * ld + f) == p->old[i * ld + f]);
    }
}

static void try_one(rng *r, const variant *v, int round)
{
    static const int64_t rows[] = {9, 1, 30};
    const values kind = (values)(round % 3);
    const int heads = v->edge == HEADS ? 1 + (int)rng_below(r, 8) : 1;
    const int most = 300 / heads / v->values,
              width = v->values * (1 + (int)rng_below(r, round / 3 ? 12 : most));
    problem p = {.nrows = rows[round / 3 % 3], .ncols = 1 + rng_below(r, 50)};
    p.rowptr = case_rows(r, p.nrows, round != 4);
    fill(&p, r, v, heads, width, round % 4, kind);
    if (v->edge != COPY && round % 2)
        shuffle(&p, r);
    p.a.add = round / 2 % 2;
    p.a.mean = round / 4 % 2;
    p.a.least = round / 2 % 2;
    p.wants_winners = round != 1;
    cut_rows(&p, 40);
    const size_t bytes = (size_t)(p.nrows * p.a.ldy) * FtB_Type_size(p.type);
    void *first = malloc(bytes + 1);
    assert_non_null(first);
    for (int again = 0; again < 2; again++) {
        run(&p, v, (simt_options){.seed = rng_bits(r), .resident = again * 3});
        check(&p, v, kind);
        if (again)
            assert_memory_equal(p.y, first, bytes);
        memcpy(first, p.y, bytes);
    }
    free(first);
    release(&p);
}

static void test_variants(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++)
        for (int round = case_all() ? 0 : k % 2; round < 9; round += case_all() ? 1 : 2)
            try_one(&r, &variants[k], round); /* half of the kinds each, or all */
}

/* The formula in the head comment. */
static void count_sectors(rng *r, const variant *v)
{
    enum { ROWS = 1000 };
    const int width = v->lanes * v->values;
    problem p = {.nrows = ROWS, .ncols = ROWS, .rowptr = case_skewed()};
    fill(&p, r, v, 1, width, 0, WHOLE);
    cut_rows(&p, 1024);
    p.wants_winners = v->reduce == BEST;
    const simt_report report = run(&p, v, (simt_options){.seed = rng_bits(r), .count = 1});
    check(&p, v, WHOLE);
    const double n = (double)p.rowptr[ROWS], size = (double)FtB_Type_size(p.type),
                 sources = n * width * (double)FtB_Type_size(stored_type(v)) / 32;
    const double weights = v->edge == EDGE ? n * (double)FtB_Type_size(p.wtype) / 32 : 0;
    const double formula =
        sources + n / 8 + weights +
        ROWS * (width * size / 32 * (v->values == 8 ? 2 : 1) + 4 + (v->reduce == BEST ? width / 2.0 : 0));
    if (!((double)report.global_sectors >= sources && (double)report.global_sectors <= 1.05 * formula))
        fail_msg("%s: %lld sectors, not %g", v->name, (long long)report.global_sectors, formula);
    release(&p);
}

/* Rows of one tile of 16 bytes a lane. */
static void test_sectors(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++) {
        const variant *v = &variants[k];
        if (v->edge != HEADS && v->lanes > 8 && v->values > 1 && (v->stored == f32 || v->reduce == PLUS))
            count_sectors(&r, v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
