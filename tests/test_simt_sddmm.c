/* Values of entries on a GPU, direct: every variant of the tables in the emulator, against slow loops in
 * double. */
#include "support/simt_case.h"

#include "gpu/kernels/sddmm_direct.h"

enum { DOT, ADD };
typedef struct variant {
    const char *name;
    int kind, lanes, span, values;
} variant;
#define ROW_DOT(lanes, span, values)                                                                         \
    {"sddmm_direct_f32_DOT_" #lanes "x" #span "x" #values, DOT, lanes, span, values},
#define ROW_ADD(lanes) {"sddmm_direct_f32_ADD_" #lanes, ADD, lanes, lanes, 1},
static const variant variants[] = {FTB_SDDMM_DIRECT_DOT(ROW_DOT) FTB_SDDMM_DIRECT_ADD(ROW_ADD)};
enum { VARIANTS = sizeof variants / sizeof *variants };

typedef struct problem {
    int64_t nrows, ncols;
    int64_t *rowptr;
    ftb_spmm_piece *pieces;
    int *colidx;
    float *x, *y, *out;
    int64_t nout;
    ftb_sddmm_direct_arguments a;
} problem;

/* Pieces in the order of rows; those without entries too. */
static void cut_rows(problem *p, int64_t bound)
{
    p->pieces = case_memory(p->nrows + p->rowptr[p->nrows] / bound, sizeof *p->pieces, "pieces");
    p->a.npieces = 0;
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i], end = p->rowptr[i + 1]; e == p->rowptr[i] || e < end; e += bound)
            p->pieces[p->a.npieces++] = (ftb_spmm_piece){e, e + bound < end ? e + bound : end, (int)i, -1};
}

/* A block's rows, `heads` of `width` values in each; gaps between rows hold NaN. */
static float *block_of(rng *r, int64_t nrows, int64_t ld, int64_t used, values kind, const char *name)
{
    float *made = case_memory(nrows * ld, sizeof *made, name);
    for (int64_t k = 0; k < nrows * ld; k++)
        made[k] = k % ld < used ? case_value(r, kind) : NAN;
    return made;
}

/* rowptr is there. `shared`: x has one row for all heads. */
static void fill(problem *p, rng *r, const variant *v, int heads, int width, int pad, bool shared,
                 values kind)
{
    const int64_t n = p->rowptr[p->nrows];
    const int xused = shared ? width : heads * width, yused = heads * width;
    p->a = (ftb_sddmm_direct_arguments){.ldx = xused + pad * v->values,
                                        .ldy = yused + pad * v->values,
                                        .heads = heads,
                                        .width = width,
                                        .headx = shared ? 0 : width,
                                        .heady = width,
                                        .scale = kind == WHOLE ? 2 : 0.3F,
                                        .slope = kind == WHOLE ? 1 : 0.2F};
    p->colidx = case_memory(n, sizeof *p->colidx, "colidx");
    for (int64_t e = 0; e < n; e++)
        p->colidx[e] = (int)rng_below(r, p->ncols);
    p->x = block_of(r, p->ncols, p->a.ldx, xused, kind, "x");
    p->y = block_of(r, p->nrows, p->a.ldy, yused, kind, "y");
    p->nout = n * heads;
    p->out = case_memory(p->nout, sizeof(float), "out");
}

static void release(problem *p)
{
    void *all[] = {p->pieces, p->colidx, p->x, p->y, p->out};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        case_forget(all[k]);
    free(p->rowptr);
}

static simt_report run(problem *p, const variant *v, simt_options o)
{
    simt_report report;
    ftb_sddmm_direct_arguments a = p->a;
    a.pieces = p->pieces;
    a.colidx = p->colidx;
    a.x = p->x;
    a.y = p->y;
    a.out = p->out;
    const int groups = FTB_SDDMM_DIRECT_BLOCK / v->lanes, heads = v->lanes / v->span;
    const unsigned x = (unsigned)((a.npieces + groups - 1) / groups);
    const unsigned y = v->kind == ADD ? 1 : (unsigned)((a.heads + heads - 1) / heads);
    for (int64_t k = 0; k < p->nout; k++)
        p->out[k] = 1e30F; /* what is not written */
    case_launch(v->name, (simt_dim){x, y, 1}, FTB_SDDMM_DIRECT_BLOCK, (void *[]){&a}, &o, &report);
    return report;
}

/* What is expected for a head of an entry, and how far from it rounding may lead. */
static double expected_of(const problem *p, const variant *v, values kind, int64_t i, int64_t e, int h,
                          double *bound)
{
    const ftb_sddmm_direct_arguments *a = &p->a;
    const float *x = p->x + p->colidx[e] * a->ldx + h * a->headx, *y = p->y + i * a->ldy + h * a->heady;
    double sum = 0, size = 0;
    for (int f = 0; v->kind == DOT && f < a->width; f++) {
        sum += (double)x[f] * y[f];
        size += fabs((double)x[f] * y[f]);
    }
    *bound = kind == WHOLE ? 0 : (a->width + 2) * 0x1p-24 * fabs((double)a->scale) * size;
    if (v->kind == DOT)
        return a->scale * sum;
    sum = (double)x[0] + y[0];
    *bound = kind == WHOLE ? 0 : 3 * 0x1p-24 * fabs(sum);
    return sum > 0 ? sum : sum * a->slope;
}

static void check(const problem *p, const variant *v, values kind)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            for (int h = 0; h < p->a.heads; h++) {
                double bound;
                const double expected = expected_of(p, v, kind, i, e, h, &bound);
                const double got = p->out[e * p->a.heads + h];
                if (!case_near(got, expected, bound))
                    fail_msg("%s: value(%d, %d) is %g, not %g", v->name, (int)e, h, got, expected);
            }
}

static void try_one(rng *r, const variant *v, int round)
{
    static const int64_t rows[] = {9, 1, 30};
    const values kind = (values)(round % 3);
    const int heads = 1 + (int)rng_below(r, 8), most = 300 / heads / v->values;
    const int width = v->kind == ADD ? 1 : v->values * (1 + (int)rng_below(r, round / 3 ? 8 : most));
    problem p = {.nrows = rows[round / 3 % 3], .ncols = 1 + rng_below(r, 50)};
    p.rowptr = case_rows(r, p.nrows, round != 4);
    fill(&p, r, v, heads, width, round % 4, round == 7, kind);
    float *first = malloc((size_t)(p.nout + 1) * sizeof *first);
    assert_non_null(first);
    for (int again = 0; again < 2; again++) { /* pieces do not matter to bits, and neither do blocks */
        cut_rows(&p, again ? 11 : 40);
        run(&p, v, (simt_options){.seed = rng_bits(r), .resident = again * 3});
        check(&p, v, kind);
        for (int64_t k = 0; again && k < p.nout; k++) /* NaN apart, whose bits are the processor's business */
            assert_true(memcmp(&p.out[k], &first[k], sizeof *first) == 0 ||
                        (isnan(p.out[k]) && isnan(first[k])));
        if (!again)
            case_forget(p.pieces);
        memcpy(first, p.out, (size_t)p.nout * sizeof *first);
    }
    free(first);
    release(&p);
}

static void test_variants(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < case_times() * VARIANTS; k++)
        for (int round = 0; round < 9; round++)
            try_one(&r, &variants[k % VARIANTS], round);
}

/* The formulas in the head comment: one head of 128, and sums for 8 heads. */
static void test_sectors(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++) {
        const variant *v = &variants[k];
        const bool dot = v->kind == DOT;
        if (v->lanes != 32 || v->span != 32 || (dot && v->values != 4))
            continue;
        problem p = {.nrows = 1000, .ncols = 1000, .rowptr = case_skewed()};
        fill(&p, &r, v, dot ? 1 : 8, dot ? 128 : 1, 0, false, WHOLE);
        cut_rows(&p, 1024);
        const simt_report report = run(&p, v, (simt_options){.seed = rng_bits(&r), .count = 1});
        check(&p, v, WHOLE);
        const double n = (double)p.rowptr[1000], m = 1000, got = (double)report.global_sectors;
        const double formula = dot ? n * 16 + n / 8 + n / 4 + m * (16 + 4)
                                   : n + n * 8 * (1.0 / 8 + 1.0 / 32) + n * 8 / 32 + 4 * m;
        if (!(got >= n * (dot ? 16 : 1) && got <= 1.05 * formula))
            fail_msg("%s: %g sectors, not %g", v->name, got, formula);
        release(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
