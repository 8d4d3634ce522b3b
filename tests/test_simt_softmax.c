/* Softmax by row on a GPU: every variant of the tables in the emulator, against slow loops in double. */
#include "support/simt_case.h"

#include "gpu/kernels/softmax_rows.h"

#include <Random123/philox.h>

enum { FORWARD, GRADIENT };
enum { CUT = 40 }; /* rows that are longer have a block */
typedef struct variant {
    const char *name, *cut;
    int what, lanes;
} variant;
#define ROW(what, lanes) {"softmax_f32_" #what "_" #lanes, "softmax_f32_" #what "_cut", what, lanes},
static const variant variants[] = {FTB_SOFTMAX(ROW)};
enum { VARIANTS = sizeof variants / sizeof *variants };
#define NAME(what) "softmax_f32_" #what "_cut",
static const char *const cut_names[] = {FTB_SOFTMAX_CUT(NAME)};

typedef struct problem {
    int64_t nrows, npieces, ncuts, values;
    long long *rowptr;
    ftb_spmm_piece *pieces;
    ftb_spmm_cut *cuts;
    long long *from; /* a permutation */
    float *in, *d, *out, *lse;
    bool in_place, wants_lse, apart;
    ftb_edge_dropout drop;
    int heads;
} problem;

/* Rows of CUT entries and more are in pieces, as others want them. */
static void cut_rows(problem *p)
{
    const int64_t n = p->rowptr[p->nrows];
    p->pieces = case_memory(p->nrows + n / CUT, sizeof *p->pieces, "pieces");
    p->cuts = case_memory(n / CUT + 1, sizeof *p->cuts, "cuts");
    for (int64_t i = 0; i < p->nrows; i++) {
        const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
        const bool cut = end - begin > CUT;
        if (cut)
            p->cuts[p->ncuts++] = (ftb_spmm_cut){.entries = end - begin, .row = (int)i};
        for (int64_t e = begin; e == begin || e < end; e += CUT)
            p->pieces[p->npieces++] =
                (ftb_spmm_piece){e, e + CUT < end ? e + CUT : end, (int)i, cut ? 0 : -1};
    }
}

/* A score. ODD: rows of -infinity alone, too (`none`). */
static float score(rng *r, values kind, bool none)
{
    if (kind == ODD && (none || rng_below(r, 8) == 0))
        return -INFINITY;
    if (kind == ODD && rng_below(r, 200) == 0)
        return rng_below(r, 2) ? NAN : INFINITY;
    return case_value(r, kind == ODD ? REAL : kind) * (kind == WHOLE ? 30.0F : 1);
}

static problem make(rng *r, int64_t *rows, int64_t nrows, int heads, values kind)
{
    problem p = {.nrows = nrows, .heads = heads, .values = rows[nrows] * heads};
    p.rowptr = case_memory(nrows + 1, sizeof *p.rowptr, "rowptr");
    for (int64_t i = 0; i <= nrows; i++)
        p.rowptr[i] = rows[i];
    const int64_t rows_end = rows[nrows];
    free(rows);
    cut_rows(&p);
    p.from = case_memory(rows_end, sizeof *p.from, "from");
    for (int64_t e = 0; e < rows_end; e++) {
        const int64_t other = rng_below(r, e + 1);
        p.from[e] = p.from[other];
        p.from[other] = e;
    }
    p.in = case_memory(p.values, sizeof(float), "in");
    p.d = case_memory(p.values, sizeof(float), "d");
    p.out = case_memory(p.values, sizeof(float), "out");
    p.lse = case_memory(nrows * heads, sizeof(float), "lse");
    for (int64_t i = 0; i < nrows; i++) {
        const bool none = rng_below(r, 4) == 0;
        for (int64_t k = p.rowptr[i] * heads; k < p.rowptr[i + 1] * heads; k++) {
            p.in[k] = score(r, kind, none);
            p.d[k] = case_value(r, REAL);
        }
    }
    return p;
}

static void release(problem *p)
{
    void *all[] = {p->rowptr, p->pieces, p->cuts, p->from, p->in, p->d, p->out, p->lse};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        case_forget(all[k]);
}

static simt_report run(problem *p, const variant *v, simt_options o)
{
    simt_report report, cut;
    ftb_softmax_arguments a = {.npieces = p->npieces,
                               .pieces = p->pieces,
                               .rowptr = p->rowptr,
                               .from = p->apart ? p->from : NULL,
                               .in = p->in,
                               .d = v->what == GRADIENT ? p->d : NULL,
                               .out = p->out,
                               .lse = v->what == FORWARD && p->wants_lse ? p->lse : NULL,
                               .heads = p->heads,
                               .drop = p->drop};
    for (int64_t k = 0; k < p->values; k++)
        p->out[k] = p->in_place ? p->in[k] : 1e30F;
    for (int64_t k = 0; k < p->nrows * p->heads; k++)
        p->lse[k] = 1e30F;
    if (p->in_place)
        a.in = p->out;
    const int groups = FTB_SOFTMAX_BLOCK / v->lanes;
    case_launch(v->name, simt_line((unsigned)((p->npieces + groups - 1) / groups)), FTB_SOFTMAX_BLOCK,
                (void *[]){&a}, &o, &report);
    const ftb_spmm_cut *cuts = p->cuts;
    if (p->ncuts > 0)
        case_launch(v->cut, simt_line((unsigned)p->ncuts), FTB_SOFTMAX_BLOCK, (void *[]){&a, &cuts}, &o,
                    &cut);
    return report;
}

static void expect(const variant *v, const char *what, int64_t at, double got, double expected, double bound)
{
    if (!case_near(got, expected, bound))
        fail_msg("%s: %s %d is %.9g, not %.9g", v->name, what, (int)at, got, expected);
}

/* Where value h of entry e is. */
static int64_t place(const problem *p, int64_t e, int h)
{
    return (p->apart ? p->from[e] : e) * p->heads + h;
}

static double kept(const problem *p, int64_t e, int h)
{
    const philox4x32_ctr_t counter = {{(uint32_t)e, (uint32_t)(e >> 32), (uint32_t)(h / 4), 0}};
    const philox4x32_key_t key = {{p->drop.key[0], p->drop.key[1]}};
    return p->drop.below == 0 ? 1 : philox4x32(counter, key).v[h % 4] < p->drop.below ? 0 : p->drop.kept;
}

/* Of one row and head. A difference of finite scores is rounded, which the exponential multiplies by as much
 * as it is; sums are rounded as often as they have terms; what is below FP32's least normal numbers may be 0.
 */
static void check_forward(const problem *p, const variant *v, int64_t i, int h)
{
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
    double most = -INFINITY, least = INFINITY, sum = 0;
    for (int64_t e = begin; e < end; e++) {
        const double z = p->in[place(p, e, h)];
        most = fmax(most, z);
        least = isfinite(z) && z < least ? z : least;
    }
    const double base = most == -INFINITY ? 0 : most, spread = isfinite(most - least) ? most - least : 0;
    for (int64_t e = begin; e < end; e++)
        sum += exp(p->in[place(p, e, h)] - base);
    const double relative = (double)(end - begin + 14) * 0x1p-24 + 2 * spread * 0x1p-24;
    for (int64_t e = begin; e < end; e++) {
        const double expected = sum == 0 ? 0 : exp(p->in[place(p, e, h)] - base) / sum * kept(p, e, h);
        expect(v, "value", place(p, e, h), p->out[place(p, e, h)], expected, relative * expected + 0x1p-126);
    }
    const double lse = sum == 0 ? -INFINITY : most + log(sum), got = p->lse[i * p->heads + h];
    if (p->wants_lse)
        expect(v, "lse", i * p->heads + h, got, lse, relative + (fabs(lse) + fabs(most)) * 0x1p-23);
    else
        assert_true(got == 1e30F);
}

static void check_gradient(const problem *p, const variant *v, int64_t i, int h)
{
    const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
    double sum = 0, size = 0;
    for (int64_t e = begin; e < end; e++) {
        const double term = (double)p->in[place(p, e, h)] * p->d[place(p, e, h)];
        sum += term;
        size += fabs(term);
    }
    for (int64_t e = begin; e < end; e++) {
        const int64_t k = place(p, e, h);
        const double bound =
            fabs((double)p->in[k]) * 0x1p-24 * ((double)(end - begin + 3) * size + 3 * fabs((double)p->d[k]));
        expect(v, "gradient", k, p->out[k], p->in[k] * (p->d[k] - sum), bound);
    }
}

static void check(const problem *p, const variant *v)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int h = 0; h < p->heads; h++)
            if (v->what == FORWARD)
                check_forward(p, v, i, h);
            else
                check_gradient(p, v, i, h);
}

static void try_one(rng *r, const variant *v, int round)
{
    static const int64_t rows[] = {9, 1, 30};
    const int64_t nrows = rows[round / 3 % 3];
    const values kind = (values)(round % 3);
    const int heads = round == 5 ? 37 : round == 8 ? 131 : 1 + (int)rng_below(r, 8);
    problem p = make(r, case_rows(r, nrows, round != 4), nrows, heads, v->what == GRADIENT ? REAL : kind);
    p.in_place = round % 2;
    p.wants_lse = round % 4 != 3;
    p.apart = round % 3 == 2 || round == 9;
    if (!p.apart && round % 2 == 0)
        p.drop = (ftb_edge_dropout){0x60000000, 1.6F, {(unsigned)rng_bits(r), (unsigned)rng_bits(r)}, NULL};
    float *first = malloc((size_t)(p.values + 1) * sizeof *first);
    assert_non_null(first);
    for (int again = 0; again < 2; again++) {
        run(&p, v, (simt_options){.seed = rng_bits(r), .resident = again * 3});
        check(&p, v);
        if (again)
            assert_memory_equal(p.out, first, (size_t)p.values * sizeof *first);
        memcpy(first, p.out, (size_t)p.values * sizeof *first);
    }
    free(first);
    release(&p);
}

static void test_variants(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < case_times() * VARIANTS; k++)
        for (int round = 0; round < 10; round++)
            try_one(&r, &variants[k % VARIANTS], round);
    for (size_t k = 0; k < sizeof cut_names / sizeof *cut_names; k++) { /* each is run by a variant */
        bool named = false;
        for (int q = 0; q < VARIANTS; q++)
            named |= strcmp(variants[q].cut, cut_names[k]) == 0;
        assert_true(named);
    }
}

/* The formula in the head comment: rows of 4 and 33 entries, 8 heads. */
static void test_sectors(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < VARIANTS; k++) {
        const variant *v = &variants[k];
        enum { ROWS = 400, HEADS = 8 };
        int64_t *rows = calloc(ROWS + 1, sizeof *rows), near = (int64_t)v->lanes / HEADS * 4, beyond = 0;
        assert_non_null(rows);
        for (int64_t i = 0; i < ROWS; i++) {
            const int64_t count = i % 4 ? 4 : 33;
            rows[i + 1] = rows[i] + count;
            beyond += count > near ? count - near : 0;
        }
        const double n = (double)rows[ROWS];
        problem p = make(&r, rows, ROWS, HEADS, REAL);
        p.wants_lse = true;
        const simt_report report = run(&p, v, (simt_options){.seed = rng_bits(&r), .count = 1});
        check(&p, v);
        const double moved = 2 * n + 2 * (double)beyond, got = (double)report.global_sectors;
        const double formula = v->what == FORWARD ? moved + ROWS * 5 : moved * 1.5 + ROWS * 4;
        if (!(got >= 2 * n && got <= 1.05 * formula))
            fail_msg("%s: %g sectors, not %g", v->name, got, formula);
        release(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
