/* Fused attention on a GPU: every variant of the table in the emulator, against slow loops in double. */
#include "support/simt_case.h"

#include "gpu/kernels/attention_rows.h"

#include <Random123/philox.h>

enum { DOT, ADD };
enum { CUT = 40 }; /* entries of a piece at most */
typedef struct variant {
    const char *name;
    int score, lanes, span, values;
} variant;
#define ROW(score, lanes, span, values)                                                                      \
    {"attention_f32_" #score "_" #lanes "x" #span "x" #values, score, lanes, span, values},
static const variant variants[] = {FTB_ATTENTION(ROW)};
enum { VARIANTS = sizeof variants / sizeof *variants };

typedef struct problem {
    int64_t nrows, ncols, ncuts, nslots, *rowptr;
    ftb_spmm_piece *pieces;
    ftb_spmm_cut *cuts;
    int *colidx;
    float *x, *y, *v, *out, *lse, *partial, *state;
    ftb_attention_arguments a;
} problem;

static void cut_rows(problem *p, int64_t bound)
{
    const int64_t n = p->rowptr[p->nrows];
    p->pieces = case_memory(p->nrows + n / bound, sizeof *p->pieces, "pieces");
    p->cuts = case_memory(n / bound + 1, sizeof *p->cuts, "cuts");
    for (int64_t i = 0; i < p->nrows; i++) {
        const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
        const bool cut = end - begin > bound;
        if (cut)
            p->cuts[p->ncuts++] = (ftb_spmm_cut){.entries = end - begin,
                                                 .row = (int)i,
                                                 .slot = (int)p->nslots,
                                                 .count = (int)((end - begin - 1) / bound + 1)};
        for (int64_t e = begin; e == begin || e < end; e += bound)
            p->pieces[p->a.npieces++] =
                (ftb_spmm_piece){e, e + bound < end ? e + bound : end, (int)i, cut ? (int)p->nslots++ : -1};
    }
}

/* A block's rows; gaps between rows hold NaN. */
static float *block_of(rng *r, int64_t nrows, int64_t ld, int64_t used, const char *name)
{
    float *made = case_memory(nrows * ld, sizeof *made, name);
    for (int64_t k = 0; k < nrows * ld; k++)
        made[k] = k % ld < used ? case_value(r, REAL) : NAN;
    return made;
}

static problem make(rng *r, const variant *v, int64_t nrows, int64_t *rowptr, int heads, int width, int wide,
                    int pad, int64_t bound)
{
    problem p = {.nrows = nrows, .ncols = 50, .rowptr = rowptr};
    const int64_t n = rowptr[nrows], gap = (int64_t)pad * v->values;
    p.a = (ftb_attention_arguments){.ldx = heads * width + gap,
                                    .ldy = heads * width + gap,
                                    .ldv = heads * wide + gap,
                                    .ldo = heads * wide + gap,
                                    .heads = heads,
                                    .width = width,
                                    .value_width = wide,
                                    .headx = width,
                                    .heady = width,
                                    .headv = wide,
                                    .scale = 0.7F,
                                    .slope = 0.2F};
    cut_rows(&p, bound);
    p.colidx = case_memory(n, sizeof *p.colidx, "colidx");
    for (int64_t e = 0; e < n; e++)
        p.colidx[e] = (int)rng_below(r, p.ncols);
    p.x = block_of(r, p.ncols, p.a.ldx, heads * width, "x");
    p.y = block_of(r, nrows, p.a.ldy, heads * width, "y");
    p.v = block_of(r, p.ncols, p.a.ldv, heads * wide, "v");
    p.out = case_memory(nrows * p.a.ldo, sizeof(float), "out");
    p.lse = case_memory(nrows * heads, sizeof(float), "lse");
    p.partial = case_memory(p.nslots * heads * wide, sizeof(float), "partial");
    p.state = case_memory(2 * p.nslots * heads, sizeof(float), "state");
    return p;
}

static void release(problem *p)
{
    void *const all[] = {p->pieces, p->cuts, p->colidx, p->x,       p->y,
                         p->v,      p->out,  p->lse,    p->partial, p->state};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        case_forget(all[k]);
    free(p->rowptr);
}

static simt_report run(problem *p, const variant *v, simt_options o)
{
    simt_report report, merged;
    ftb_attention_arguments a = p->a;
    a.pieces = p->pieces;
    a.colidx = p->colidx;
    a.x = p->x;
    a.y = p->y;
    a.v = p->v;
    a.out = p->out;
    a.lse = p->lse;
    a.partial = p->partial;
    a.state = p->state;
    for (int64_t k = 0; k < p->nrows * a.ldo; k++)
        p->out[k] = 1e30F; /* what is not written */
    const int groups = FTB_ATTENTION_BLOCK / v->lanes, heads = v->lanes / v->span, tile = v->span * v->values;
    const simt_dim grid = {(unsigned)((a.npieces + groups - 1) / groups),
                           (unsigned)((a.heads + heads - 1) / heads * ((a.value_width + tile - 1) / tile)),
                           1};
    case_launch(v->name, grid, FTB_ATTENTION_BLOCK, (void *[]){&a}, &o, &report);
    const ftb_spmm_cut *cuts = p->cuts;
    const unsigned blocks =
        (unsigned)(a.heads * a.value_width + FTB_ATTENTION_BLOCK - 1) / FTB_ATTENTION_BLOCK;
    if (p->ncuts > 0)
        case_launch("attention_f32_merge", (simt_dim){blocks, (unsigned)p->ncuts, 1}, FTB_ATTENTION_BLOCK,
                    (void *[]){&a, &cuts}, &o, &merged);
    return report;
}

static double score_of(const problem *p, const variant *v, int64_t i, int64_t e, int h)
{
    const ftb_attention_arguments *a = &p->a;
    const float *x = p->x + p->colidx[e] * a->ldx + h * a->headx, *y = p->y + i * a->ldy + h * a->heady;
    double sum = v->score == ADD ? (double)x[0] + y[0] : 0;
    for (int f = 0; v->score == DOT && f < a->width; f++)
        sum += (double)x[f] * y[f];
    return v->score == DOT ? a->scale * sum : sum > 0 ? sum : a->slope * sum;
}

static double kept(const problem *p, int64_t e, int h)
{
    const philox4x32_ctr_t counter = {{(uint32_t)e, (uint32_t)(e >> 32), (uint32_t)(h / 4), 0}};
    const philox4x32_key_t key = {{p->a.drop.key[0], p->a.drop.key[1]}};
    const bool drops = p->a.drop.below > 0;
    return !drops ? 1 : philox4x32(counter, key).v[h % 4] < p->a.drop.below ? 0 : p->a.drop.kept;
}

/* One row's head. Scores are rounded as often as heads are wide, sums as often as they have terms; values are
 * below 1, or 1.7 where others are dropped. */
static void check(const problem *p, const variant *v, int64_t i, int h)
{
    const ftb_attention_arguments *a = &p->a;
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
    double most = -INFINITY, sum = 0;
    for (int64_t e = begin; e < end; e++)
        most = fmax(most, score_of(p, v, i, e, h));
    for (int64_t e = begin; e < end; e++)
        sum += exp(score_of(p, v, i, e, h) - most);
    const double rounded = v->score == ADD ? 3 : (double)a->width * (a->width + 3);
    const double bound = 2 * (rounded + (double)(end - begin) + 24) * 0x1p-24;
    for (int f = 0; f < a->value_width; f++) {
        double expected = 0;
        for (int64_t e = begin; e < end; e++)
            expected += exp(score_of(p, v, i, e, h) - most) / sum * kept(p, e, h) *
                        p->v[p->colidx[e] * a->ldv + h * a->headv + f];
        const double got = p->out[i * a->ldo + h * a->value_width + f];
        if (!case_near(got, expected, 1.7 * bound))
            fail_msg("%s: (%d, %d, %d) is %.9g, not %.9g", v->name, (int)i, h, f, got, expected);
    }
    if (!case_near(p->lse[i * a->heads + h], begin == end ? -INFINITY : most + log(sum), 2 * bound))
        fail_msg("%s: lse (%d, %d) is %.9g", v->name, (int)i, h, (double)p->lse[i * a->heads + h]);
}

static void check_all(const problem *p, const variant *v)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int h = 0; h < p->a.heads; h++)
            check(p, v, i, h);
}

static void try_one(rng *r, const variant *v, int round)
{
    static const int64_t rows[] = {9, 1, 30};
    const int64_t nrows = rows[round % 3];
    const int heads = 1 + (int)rng_below(r, 6), tile = v->span * v->values;
    const int width = v->score == ADD ? 1 : v->values * (1 + (int)rng_below(r, 2 * v->span));
    const int wide = v->values * (1 + (int)rng_below(r, (round == 1 ? 3 * tile : tile) / v->values));
    problem p = make(r, v, nrows, case_rows(r, nrows, round != 4), heads, width, wide, round % 4, CUT);
    if (round % 2)
        p.a.drop = (ftb_edge_dropout){0x60000000, 1.6F, {(unsigned)rng_bits(r), (unsigned)rng_bits(r)}, NULL};
    const int64_t bytes = p.nrows * p.a.ldo * (int64_t)sizeof(float);
    float *first = malloc((size_t)bytes + 1);
    assert_non_null(first);
    for (int again = 0; again < 2; again++) {
        run(&p, v, (simt_options){.seed = rng_bits(r), .resident = again * 3});
        check_all(&p, v);
        if (again)
            assert_memory_equal(p.out, first, (size_t)bytes);
        memcpy(first, p.out, (size_t)bytes);
    }
    free(first);
    release(&p);
}

static void test_variants(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < case_times() * VARIANTS; k++)
        for (int round = 0; round < 6; round++)
            try_one(&r, &variants[k % VARIANTS], round);
}

/* The formula in the head comment: one head of 128, and 8 of 16. */
static void test_sectors(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++) {
        const variant *v = &variants[k];
        if (v->lanes != 32 || v->values != 4 || v->span == 8)
            continue;
        const int heads = v->span == 32 ? 1 : 8, wide = 128 / heads, width = v->score == ADD ? 1 : wide;
        problem p = make(&r, v, 1000, case_skewed(), heads, width, wide, 0, 1024);
        const simt_report report = run(&p, v, (simt_options){.seed = rng_bits(&r), .count = 1});
        check(&p, v, 0, 0);
        /* What is narrower than a sector takes one; four heads' groups each read the piece and its columns.
         */
        const double n = (double)p.rowptr[1000], got = (double)report.global_sectors;
        const int times = heads == 8 && v->lanes / v->span < 8 ? 2 : 1;
        const double x = v->score == ADD ? (heads == 8 ? times : 1) : 16, y = x, lse = heads == 8 ? times : 1;
        const double formula = n * (x + 16 + times / 8.0) + 1000 * (y + 16 + 4 * times + lse);
        if (!(got >= n * (16 + (v->score == DOT ? 16 : 0)) && got <= 1.05 * formula))
            fail_msg("%s: %g sectors, not %g", v->name, got, formula);
        release(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
