/* Gradients of attention on a GPU: what both walks read and write, beside the formula in the head comment of
 * their kernels. What they compute: test_gpu_attention_grad.c. */
#include "support/simt_case.h"

#include "gpu/kernels/attention_grad_rows.h"

enum { QUERIES, SOURCES };
enum { DOT, ADD };
typedef struct variant {
    const char *name;
    int walk, score, lanes, span, values;
} variant;
#define ROW(walk, score, lanes, span, values)                                                                \
    {"attention_grad_f32_" #walk "_" #score "_" #lanes "x" #span "x" #values,                                \
     walk,                                                                                                   \
     score,                                                                                                  \
     lanes,                                                                                                  \
     span,                                                                                                   \
     values},
static const variant variants[] = {FTB_ATTENTION_GRAD(ROW)};
enum { VARIANTS = sizeof variants / sizeof *variants, NROWS = 1000 };

static float *reals(rng *r, int64_t count, const char *name)
{
    float *made = case_memory(count, sizeof *made, name);
    for (int64_t k = 0; k < count; k++)
        made[k] = case_value(r, REAL);
    return made;
}

/* Of as many columns as rows. */
static double sectors(rng *r, const variant *v, int heads, int width, int wide, double *entries)
{
    int64_t *rowptr = case_skewed();
    const int64_t n = rowptr[NROWS];
    ftb_spmm_piece *pieces = case_memory(NROWS, sizeof *pieces, "pieces");
    int *colidx = case_memory(n, sizeof *colidx, "colidx");
    for (int64_t i = 0; i < NROWS; i++)
        pieces[i] = (ftb_spmm_piece){rowptr[i], rowptr[i + 1], (int)i, -1};
    for (int64_t e = 0; e < n; e++)
        colidx[e] = (int)rng_below(r, NROWS);
    float *x[] = {reals(r, NROWS * heads * width, "other"), reals(r, NROWS * heads * wide, "other_values"),
                  reals(r, NROWS * heads * width, "own"),   reals(r, NROWS * heads * wide, "own_values"),
                  reals(r, NROWS * heads, "lse"),           reals(r, NROWS * heads, "delta"),
                  reals(r, NROWS * heads * width, "grad"),  reals(r, NROWS * heads * wide, "grad_values")};
    ftb_attention_grad_arguments a = {.npieces = NROWS,
                                      .pieces = pieces,
                                      .colidx = colidx,
                                      .other = x[0],
                                      .other_values = x[1],
                                      .own = x[2],
                                      .own_values = x[3],
                                      .lse = x[4],
                                      .delta = x[5],
                                      .grad = x[6],
                                      .grad_values = v->walk == SOURCES ? x[7] : NULL,
                                      .ldother = heads * width,
                                      .ldother_values = heads * wide,
                                      .ldown = heads * width,
                                      .ldown_values = heads * wide,
                                      .ldgrad = heads * width,
                                      .ldgrad_values = heads * wide,
                                      .heads = heads,
                                      .width = width,
                                      .value_width = wide,
                                      .scale = 0.7F,
                                      .slope = 0.2F};
    const int groups = FTB_ATTENTION_GRAD_BLOCK / v->lanes, spans = v->lanes / v->span;
    const simt_dim grid = {(unsigned)((NROWS + groups - 1) / groups), (unsigned)((heads + spans - 1) / spans),
                           1};
    const simt_options o = {.seed = rng_bits(r), .count = 1};
    simt_report report;
    case_launch(v->name, grid, FTB_ATTENTION_GRAD_BLOCK, (void *[]){&a}, &o, &report);
    *entries = (double)n;
    for (int k = 0; k < 8; k++)
        case_forget(x[k]);
    case_forget(pieces);
    case_forget(colidx);
    free(rowptr);
    return (double)report.global_sectors;
}

/* One head of 128, and 8 of 16, of which four heads' groups each read the piece and its columns, lse and
 * delta, and, of sums, the scores' two ends. */
static void test_sectors(void **state)
{
    (void)state;
    rng r = rng_new();
    int tried = 0;
    for (int k = 0; k < VARIANTS; k++) {
        const variant *v = &variants[k];
        if (v->lanes != 32 || v->values != 4 || v->span == 8)
            continue;
        const bool one = v->span == 32;
        const int heads = one ? 1 : 8, wide = 128 / heads, width = v->score == ADD ? 1 : wide;
        const int times = one || v->lanes / v->span == 8 ? 1 : 2;
        double n;
        const double got = sectors(&r, v, heads, width, wide, &n);
        const double x = v->score == ADD ? times : 16, dv = 16;
        const double formula =
            v->walk == QUERIES
                ? n * (x + dv + times / 8.0) + NROWS * (2 * x + dv + 6 * times)
                : n * (x + dv + times / 8.0 + 2 * times) + NROWS * (2 * x + 2 * dv + 4 * times);
        if (!(got >= n * (dv + (v->score == DOT ? 16 : 0)) && got <= 1.05 * formula))
            fail_msg("%s: %g sectors, not %g", v->name, got, formula);
        tried++;
    }
    assert_int_equal(tried, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
