/* Sparse x block on a GPU, direct: every variant of the table in the emulator, against slow loops in double.
 */
#include "support/simt_case.h"

#include "core/core.h"
#include "gpu/kernels/spmm_direct.h"

enum { f32, f16, bf16 };
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
    void *stored; /* x as the kernel has it */
    float *x, *w, *y, *partial, *old;
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
    p->partial = case_memory((int64_t)slot * p->a.ldp, sizeof(float), "partial");
    p->partial_won = case_memory((int64_t)slot * p->a.ldp, sizeof(long long), "partial_won");
}

/* rowptr is there; gaps between rows hold NaN, which must not come into sums. */
static void fill(problem *p, rng *r, const variant *v, int heads, int width, int pad, values kind)
{
    const int64_t n = p->rowptr[p->nrows];
    const int d = heads * width, ldw = v->edge == HEADS ? heads + pad : 1 + pad;
    const int ld = d + pad * v->values;
    p->a = (ftb_spmm_direct_arguments){
        .ldx = ld, .ldw = ldw, .ldy = ld, .ldp = ld, .ldwon = d, .d = d, .width = width, .empty = -7};
    p->colidx = case_memory(n, sizeof *p->colidx, "colidx");
    p->x = malloc((size_t)(p->ncols * ld + 1) * sizeof(float));
    assert_non_null(p->x);
    p->w = case_memory(n * ldw, sizeof(float), "w");
    p->y = case_memory(p->nrows * ld, sizeof(float), "y");
    p->won = case_memory(p->nrows * d, sizeof *p->won, "won");
    p->old = malloc((size_t)(p->nrows * ld + 1) * sizeof(float));
    assert_non_null(p->old);
    for (int64_t e = 0; e < n; e++)
        p->colidx[e] = (int)rng_below(r, p->ncols);
    for (int64_t k = 0; k < p->ncols * ld; k++)
        p->x[k] = k % ld < d ? case_value(r, kind) : NAN;
    const FtB_Type type = v->stored == f32 ? FTB_FP32 : v->stored == f16 ? FTB_FP16 : FTB_BF16;
    p->stored = case_memory(p->ncols * ld, FtB_Type_size(type), "x");
    ftb_cast(p->stored, type, p->x, FTB_FP32, p->ncols * ld);
    ftb_cast(p->x, FTB_FP32, p->stored, type, p->ncols * ld); /* rounded */
    for (int64_t k = 0; k < n * ldw; k++)
        p->w[k] = k % ldw < ldw - pad ? case_value(r, kind) : NAN;
    for (int64_t k = 0; k < p->nrows * ld; k++)
        p->old[k] = case_value(r, kind == ODD ? REAL : kind);
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
    void *all[] = {p->pieces, p->cuts,    p->colidx, p->stored,      p->w,
                   p->y,      p->partial, p->won,    p->partial_won, p->from};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k])
            case_forget(all[k]);
    free(p->rowptr);
    free(p->old);
    free(p->x);
}

static simt_report run(problem *p, const variant *v, simt_options o)
{
    simt_report report, merge;
    ftb_spmm_direct_arguments a = p->a;
    a.pieces = p->pieces;
    a.colidx = p->colidx;
    a.x = p->stored;
    a.w = v->edge == COPY ? NULL : p->w;
    a.y = p->y;
    a.partial = p->partial;
    a.won = p->wants_winners ? p->won : NULL;
    a.partial_won = p->wants_winners ? p->partial_won : NULL;
    memset(p->won, 0x55, (size_t)(p->nrows * a.ldwon) * sizeof *p->won);
    memcpy(p->y, p->old, (size_t)(p->nrows * a.ldy) * sizeof(float));
    const int groups = FTB_SPMM_DIRECT_BLOCK / v->lanes, tile = v->lanes * v->values;
    case_launch(
        v->name,
        (simt_dim){(unsigned)((p->npieces + groups - 1) / groups), (unsigned)((a.d + tile - 1) / tile), 1},
        FTB_SPMM_DIRECT_BLOCK, (void *[]){&a}, &o, &report);
    const ftb_spmm_cut *cuts = p->cuts;
    if (p->ncuts > 0)
        case_launch(v->reduce == BEST ? "spmm_direct_f32_BEST_merge" : "spmm_direct_f32_PLUS_merge",
                    (simt_dim){(unsigned)((a.d + FTB_SPMM_DIRECT_BLOCK - 1) / FTB_SPMM_DIRECT_BLOCK),
                               (unsigned)p->ncuts, 1},
                    FTB_SPMM_DIRECT_BLOCK, (void *[]){&a, &cuts}, &o, &merge);
    return report;
}

static double message(const problem *p, const variant *v, int64_t e, int64_t f)
{
    const float *w = p->w + (p->from ? p->from[e] : e) * p->a.ldw;
    const double by = v->edge == COPY ? 1 : v->edge == EDGE ? w[0] : w[f / p->a.width];
    return by * p->x[p->colidx[e] * p->a.ldx + f];
}

static void check_sum(const problem *p, const variant *v, values kind, int64_t i, int64_t f)
{
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1], at = i * p->a.ldy + f;
    const double by = p->a.mean && end > begin ? (double)(end - begin) : 1, old = p->a.add ? p->old[at] : 0;
    double sum = 0, size = 0;
    for (int64_t e = begin; e < end; e++) {
        sum += message(p, v, e, f);
        size += fabs(message(p, v, e, f));
    }
    const float exact = (float)sum / (float)by + (float)old; /* where no sum is rounded */
    const double expected = kind == WHOLE ? exact : sum / by + old, got = p->y[at];
    const double bound = kind == WHOLE ? 0 : (double)(end - begin + 3) * 0x1p-24 * (size / by + fabs(old));
    if (!case_near(got, expected, bound))
        fail_msg("%s: y(%d, %d) is %g, not %g", v->name, (int)i, (int)f, got, expected);
}

static bool better(bool least, float x, float y)
{
    if (isnan(x) || isnan(y))
        return !isnan(x) && isnan(y);
    if (x == y)
        return signbit(x) != signbit(y) && (bool)signbit(x) == least;
    return least ? x < y : x > y;
}

/* To the bit: a product of FP32 in double is exact, and rounds to what FP32 gives. */
static void check_best(const problem *p, const variant *v, int64_t i, int64_t f)
{
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1], at = i * p->a.ldy + f;
    int64_t won = -1;
    float best = p->a.empty;
    for (int64_t e = begin; e < end; e++) {
        const float m = (float)message(p, v, e, f);
        if (won >= 0 && !better(p->a.least, m, best))
            continue;
        best = m;
        won = e;
    }
    const float expected = p->a.add ? best + p->old[at] : best, got = p->y[at];
    if (isnan(expected) ? !isnan(got) : memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s: y(%d, %d) is %g, not %g", v->name, (int)i, (int)f, got, expected);
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
            assert_memory_equal(&p->y[i * ld + f], &p->old[i * ld + f], sizeof(float));
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
    float *first = malloc((size_t)(p.nrows * p.a.ldy + 1) * sizeof *first);
    assert_non_null(first);
    for (int again = 0; again < 2; again++) {
        run(&p, v, (simt_options){.seed = rng_bits(r), .resident = again * 3});
        check(&p, v, kind);
        if (again)
            assert_memory_equal(p.y, first, (size_t)(p.nrows * p.a.ldy) * sizeof *first);
        memcpy(first, p.y, (size_t)(p.nrows * p.a.ldy) * sizeof *first);
    }
    free(first);
    release(&p);
}

static void test_variants(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++)
        for (int round = 0; round < 9; round++)
            try_one(&r, &variants[k], round);
}

/* The formula in the head comment. */
static void count_sectors(rng *r, const variant *v)
{
    enum { ROWS = 1000, WIDTH = 128 };
    problem p = {.nrows = ROWS, .ncols = ROWS, .rowptr = case_skewed()};
    fill(&p, r, v, 1, WIDTH, 0, WHOLE);
    cut_rows(&p, 1024);
    p.wants_winners = v->reduce == BEST;
    const simt_report report = run(&p, v, (simt_options){.seed = rng_bits(r), .count = 1});
    check(&p, v, WHOLE);
    const double n = (double)p.rowptr[ROWS], sources = n * WIDTH / (v->stored == f32 ? 8 : 16);
    const double formula = sources + n / 8 * (v->edge == EDGE ? 2 : 1) +
                           ROWS * (WIDTH / 8 + 4 + (v->reduce == BEST ? WIDTH / 2 : 0));
    if (!((double)report.global_sectors >= sources && (double)report.global_sectors <= 1.05 * formula))
        fail_msg("%s: %lld sectors, not %g", v->name, (long long)report.global_sectors, formula);
    release(&p);
}

static void test_sectors(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++)
        if (variants[k].edge != HEADS && variants[k].lanes * variants[k].values == 128 &&
            (variants[k].stored == f32 || variants[k].reduce == PLUS))
            count_sectors(&r, &variants[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
