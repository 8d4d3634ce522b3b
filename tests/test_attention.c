/* FtB_attention and FtB_attention_grad against a loop in double precision: forms, heads, widths, dtypes,
 * dropout, plans and instruction sets at random; the gradient against finite differences; rows without
 * entries and without weights; the same bits for any number of threads. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "cpu/kernels/heads.h"
#include "oracle/ref_attention.h"
#include "oracle/ref_sddmm.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define CASES rng_cases(300)

static void assert_values(FtB_Block X, const double *goal, double tolerance, const char *what)
{
    double *x = ref_block(X);
    for (int64_t t = 0; t < X->nrows * X->ncols; t++)
        if (x[t] != goal[t] && !(fabs(x[t] - goal[t]) <= tolerance * fmax(1, fabs(goal[t]))) &&
            !(isnan(x[t]) && isnan(goal[t])))
            fail_msg("%s: row %lld, value %lld: %.12g, expected %.12g", what, (long long)(t / X->ncols),
                     (long long)(t % X->ncols), x[t], goal[t]);
    free(x);
}

static const planned plans[] = {{"rows", NULL, NULL},       {"segments", "1", NULL}, {"segments", "7", "1"},
                                {"segments", "64", "2"},    {"segments", "7", "3"},  {NULL, NULL, NULL},
                                {"segments", "1000", NULL}, {"staged", NULL, NULL},  {"fused", NULL, NULL}};
#define PLANS ((int)(sizeof plans / sizeof *plans))
static const planned *current = &plans[5];

static void any_plan(void)
{
    current = &plans[5];
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Attention by the current plan; *plan and *desc, which holds it, are the caller's to free. */
static GrB_Info planned_attention(FtB_Plan *plan, FtB_Descriptor *desc, FtB_Block C, FtB_Matrix A,
                                  FtB_Arg semiring, FtB_Block Q, FtB_Block K, FtB_Block V,
                                  const FtB_Attention_options *options, double fill)
{
    *plan = NULL;
    *desc = NULL;
    GrB_Info info = FtB_attention_plan(plan, C, A, NULL, semiring, Q, K, V, options, NULL, FTB_ESTIMATE);
    if (info == GrB_SUCCESS)
        info = planned_force(*plan, current);
    if (info == GrB_SUCCESS)
        info = planned_descriptor(desc, NULL, *plan);
    if (info == GrB_SUCCESS)
        info = FtB_Descriptor_set(*desc, FTB_FILL, fill);
    return info == GrB_SUCCESS ? FtB_attention(C, A, NULL, semiring, Q, K, V, options, *desc) : info;
}

typedef struct attention_case {
    FtB_Block Q, K, V, C, D, lse, dQ, dK, dV;
    FtB_Semiring s;
    ref_attention ref;
    char what[200];
} attention_case;

/* Operands at random, of ref's form, heads, widths and scale. */
static attention_case case_of(rng *r, const ref_attention *of, FtB_Type type, int64_t m, int64_t n)
{
    static const char *const texts[] = {"plus : dot(src, dst) * scale", "plus : leaky_relu(src + dst, scale)",
                                        "plus : dot(src, dst) * scale + edge"};
    attention_case c = {.ref = *of};
    ref_attention *ref = &c.ref;
    ref->dropout = rng_below(r, 3) == 0 ? 0.375 : 0;
    ref->seed = rng_bits(r);
    ref->fill = (double)rng_below(r, 2);
    ref->A = rng_matrix(r, FTB_FP32, m, n, 1, rng_unit(r));
    c.Q = rng_heads(r, type, m, ref->heads, ref->width, rng_reals);
    c.K = rng_heads(r, type, n, ref->heads, ref->width, rng_reals);
    c.V = rng_heads(r, type, n, ref->heads, ref->value_width, rng_reals);
    c.D = rng_heads(r, type, m, ref->heads, ref->value_width, rng_reals);
    FtB_Type single = type == FTB_FP64 ? FTB_FP64 : FTB_FP32;
    assert_ok(FtB_Block_new(&c.C, m, ref->heads * ref->value_width, single));
    c.lse = rng_heads(r, single, m, 1, ref->heads, rng_reals);
    c.dQ = rng_heads(r, single, m, ref->heads, ref->width, rng_reals);
    c.dK = rng_heads(r, single, n, ref->heads, ref->width, rng_reals);
    c.dV = rng_heads(r, single, n, ref->heads, ref->value_width, rng_reals);
    FtB_Semiring plain;
    assert_ok(FtB_Semiring_new(&plain, texts[ref->form]));
    assert_ok(FtB_Semiring_bind(&c.s, plain, FTB_BIND("scale", ref->scale)));
    FtB_Semiring_free(&plain);
    ref->q = ref_block(c.Q);
    ref->k = ref_block(c.K);
    ref->v = ref_block(c.V);
    ref->d = ref_block(c.D);
    snprintf(c.what, sizeof c.what, "%s, %s, %d heads x %d, values x %d, A %d x %d, dropout %g",
             texts[ref->form], FtB_Type_name(type), (int)ref->heads, (int)ref->width, (int)ref->value_width,
             (int)m, (int)n, ref->dropout);
    ref_attention_run(ref);
    return c;
}

static attention_case new_case(rng *r, ref_form form, FtB_Type type)
{
    static const int64_t widths[] = {1, 2, 3, 4, 7, 8, 16, 16, 17, 33, 64, 100};
    static const int64_t many[] = {1, 1, 3, 4, 8, 8, 5};
    ref_attention of = {.form = form, .heads = many[rng_below(r, 7)]};
    int64_t m = rng_below(r, 25), n = 1 + rng_below(r, 90);
    of.width = form == REF_LEAKY ? 1 : widths[rng_below(r, 12)];
    of.value_width = widths[rng_below(r, 12)];
    of.scale = rng_unit(r);
    return case_of(r, &of, type, m, n);
}

static void free_case(attention_case *c)
{
    FtB_Block *all[] = {&c->Q, &c->K, &c->V, &c->C, &c->D, &c->lse, &c->dQ, &c->dK, &c->dV};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        FtB_Block_free(all[t]);
    free((double *)(uintptr_t)c->ref.d);
    FtB_Matrix_free(&c->ref.A);
    ref_attention_free(&c->ref);
    FtB_Semiring_free(&c->s);
}

/* Whether it was done in steps. */
static bool run(attention_case *c)
{
    FtB_Descriptor desc;
    const FtB_Attention_options *options =
        FTB_ATTENTION_OPTIONS(.dropout = c->ref.dropout, .seed = c->ref.seed, .lse = c->lse);
    FtB_Plan plan;
    assert_ok(planned_attention(&plan, &desc, c->C, c->ref.A, FTB_ARG(c->s), c->Q, c->K, c->V, options,
                                c->ref.fill));
    if (c->ref.form != REF_EDGE)
        assert_ok(FtB_attention_grad(c->dQ, c->dK, c->dV, c->D, c->ref.A, c->s, c->Q, c->K, c->V, c->C,
                                     options, desc));
    bool staged = planned_figure(plan, "staged") > 0;
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    return staged;
}

static void random_cases(void **state)
{
    (void)state;
    static const FtB_Type types[] = {FTB_FP32, FTB_FP64, FTB_BF16, FTB_FP16};
    rng r = rng_new();
    for (int t = 0; t < CASES; t++) {
        FtB_Type type = types[t % 4];
        current = &plans[t / 4 % PLANS];
        ftb_isa_force((int)rng_below(&r, 4) - 1);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        attention_case c = new_case(&r, (ref_form)(t % 3), type);
        run(&c);
        double tolerance = type == FTB_FP64 ? 1e-12 : 2e-5;
        assert_values(c.C, c.ref.c, tolerance, c.what);
        assert_values(c.lse, c.ref.lse, tolerance, c.what);
        if (c.ref.form != REF_EDGE) {
            assert_values(c.dQ, c.ref.of_q, 10 * tolerance, c.what);
            assert_values(c.dK, c.ref.of_k, 10 * tolerance, c.what);
            assert_values(c.dV, c.ref.of_v, 10 * tolerance, c.what);
        }
        free_case(&c);
    }
    any_plan();
}

/* Heads that are taken four together, and their gradients: small scores and such as are rescaled for, by
 * every instruction set; the same bits of any number of threads, where additions are fused; rows in parts. */
static void four_heads(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 17; t++) {
        bool large = t == 16;
        ref_attention of = {.form = REF_DOT,
                            .heads = large ? 4 : 4 * (1 + t % 3),
                            .width = 16 - t % 2,
                            .value_width = 16 - t / 2 % 2,
                            .scale = large        ? 1
                                     : t % 4 == 3 ? -60
                                     : t % 4 == 2 ? 60
                                                  : rng_unit(&r)};
        int64_t m = large ? 45000 : rng_below(&r, 40), n = large ? 2 : 1 + rng_below(&r, 200);
        attention_case c = case_of(&r, &of, FTB_FP32, m, n);
        const double *goal[] = {c.ref.c, c.ref.lse, c.ref.of_q, c.ref.of_k, c.ref.of_v};
        const double scale = fmax(1, fabs(of.scale));
        const double wide[] = {scale, 1, 2 * scale * scale, 2 * scale * scale, 2 * scale};
        double *first[5] = {0};
        for (int u = 0; u < (large ? 1 : 9); u++) {
            current = &plans[large ? 1 : (int[]){2, 3, 6, 2}[t % 4]];
            ftb_isa_force(large ? -1 : u / 3);
            assert_ok(FtB_Context_set_threads(NULL, 1 + u % 3));
            run(&c);
            FtB_Block results[] = {c.C, c.lse, c.dQ, c.dK, c.dV};
            for (int b = 0; b < 5; b++) {
                double *now = ref_block(results[b]);
                assert_values(results[b], goal[b], 2e-5 * wide[b], c.what);
                if (u != 3 && first[b])
                    assert_memory_equal(now, first[b],
                                        sizeof *now * (size_t)(results[b]->nrows * results[b]->ncols));
                free(first[b]);
                first[b] = now;
            }
        }
        for (int b = 0; b < 5; b++)
            free(first[b]);
        free_case(&c);
    }
    any_plan();
}

/* The same with scores that are infinite or no numbers: a row that attends to nothing gets 0, and gives none.
 */
static void four_special(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, J[] = {0, 1, 0, 2, 2, 3, 1, 4, 0, 1};
    const float of[] = {1, 2, -INFINITY, -INFINITY, NAN}, rows[] = {1, 1, 1, 1, 3e4F};
    float q[6][64] = {{0}}, k[5][64] = {{0}}, v[5][64] = {{0}}, c[6][64], lse[6][4], d[6][64];
    float dk[5][64], dv[5][64];
    FtB_Matrix A;
    enum { BLOCKS = 8 };
    FtB_Block B[BLOCKS];
    void *data[BLOCKS] = {q, k, v, c, lse, d, dk, dv};
    for (int x = 0; x < 6 * 64; x++)
        d[x / 64][x % 64] = 1;
    for (int i = 0; i < 5; i++)
        for (int h = 0; h < 4; h++) {
            q[i][16 * h] = rows[i];
            k[i][16 * h] = of[i];
            for (int f = 0; f < 16; f++)
                v[i][16 * h + f] = (float)(i + 1);
        }
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 6, 5, 0, 10, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (int b = 0; b < BLOCKS; b++) {
        FtB_Block whole;
        int64_t ncols = b == 4 ? 4 : 64;
        assert_ok(FtB_Block_wrap(&whole, data[b], b == 1 || b == 2 || b > 5 ? 5 : 6, ncols, ncols, FTB_FP32));
        assert_ok(FtB_Block_heads(&B[b], whole, b == 4 ? 1 : 4));
        FtB_Block_free(&whole);
    }
    for (int t = 0; t < 3 * PLANS; t++) {
        FtB_Plan plan;
        FtB_Descriptor desc;
        current = &plans[t % PLANS];
        ftb_isa_force(t / PLANS);
        assert_ok(planned_attention(&plan, &desc, B[3], A, FTB_ARG(FTB_PLUS_DOT), B[0], B[1], B[2],
                                    FTB_ATTENTION_OPTIONS(.lse = B[4]), 7));
        assert_ok(FtB_attention_grad(NULL, B[6], B[7], B[5], A, FTB_PLUS_DOT, B[0], B[1], B[2], B[3],
                                     FTB_ATTENTION_OPTIONS(.lse = B[4]), desc));
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
        for (int x = 0; x < 64; x++) {
            assert_true(fabs(c[0][x] - (1 + 2 * exp(1)) / (1 + exp(1))) < 1e-5);
            assert_true(c[1][x] == 1 && c[2][x] == 0 && isnan(c[3][x]) && c[4][x] == 2 && c[5][x] == 7);
        }
        for (int h = 0; h < 4; h++)
            assert_true(lse[1][h] == 1 && lse[2][h] == -INFINITY && isnan(lse[3][h]) &&
                        fabs(lse[4][h] - 6e4) < 0.01 && lse[5][h] == -INFINITY);
        for (int x = 0; x < 64; x++) {
            assert_true(fabs(dv[0][x] - (1 + 1 / (1 + exp(1)))) < 1e-5);
            assert_true(dv[2][x] == 0 && dv[3][x] == 0 && dk[2][x] == 0 && dk[3][x] == 0);
        }
    }
    any_plan();
    FtB_Matrix_free(&A);
    for (int b = 0; b < BLOCKS; b++)
        FtB_Block_free(&B[b]);
}

/* Whether four heads are taken together. */
static bool by_fours(const attention_case *c)
{
    const ref_attention *ref = &c->ref;
    return ref->form == REF_DOT && c->lse->type == FTB_FP32 && ref->heads % 4 == 0 &&
           ftb_lanes_width(ref->width) == 16 && ftb_lanes_width(ref->value_width) == 16;
}

/* One plan: the same bits from every number of threads, and, in a walk, every instruction set (sums of
 * weighted values in steps are fused additions where there are any, and those of four heads together). */
static void bits(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 24; t++) {
        attention_case c = new_case(&r, (ref_form)(t % 3), t % 2 ? FTB_FP32 : FTB_FP64);
        FtB_Block results[] = {c.C, c.lse, c.dQ, c.dK, c.dV};
        double *first[5] = {0};
        for (int u = 0; u < 9; u++) {
            current = &plans[t % PLANS];
            ftb_isa_force(u / 3);
            assert_ok(FtB_Context_set_threads(NULL, 1 + u % 3));
            bool fuses = run(&c) || by_fours(&c);
            for (int b = 0; b < 5; b++) {
                double *now = ref_block(results[b]);
                size_t bytes = sizeof *now * (size_t)(results[b]->nrows * results[b]->ncols);
                if (first[b] && !(fuses && u % 3 == 0))
                    assert_memory_equal(now, first[b], bytes);
                free(first[b]);
                first[b] = now;
            }
        }
        for (int b = 0; b < 5; b++)
            free(first[b]);
        free_case(&c);
    }
    any_plan();
}

static double loss(attention_case *c)
{
    const FtB_Attention_options *options =
        FTB_ATTENTION_OPTIONS(.dropout = c->ref.dropout, .seed = c->ref.seed, .lse = c->lse);
    double sum = 0, *now;
    assert_ok(FtB_attention(c->C, c->ref.A, NULL, c->s, c->Q, c->K, c->V, options, NULL));
    now = ref_block(c->C);
    for (int64_t t = 0; t < c->C->nrows * c->C->ncols; t++)
        sum += now[t] * c->ref.d[t];
    free(now);
    return sum;
}

/* Central differences at some values of X against its gradient. */
static void differences(attention_case *c, rng *r, FtB_Block X, const double *analytic)
{
    for (int t = 0; t < 6 && X->nrows > 0; t++) {
        int64_t i = rng_below(r, X->nrows), f = rng_below(r, X->ncols);
        double *x = (double *)block_values(X) + i * X->ld + f, old = *x, side[2];
        for (int s = 0; s < 2; s++) {
            *x = old + (s ? 1e-6 : -1e-6);
            assert_ok(FtB_Block_changed(X));
            side[s] = loss(c);
        }
        *x = old;
        assert_ok(FtB_Block_changed(X));
        double found = (side[1] - side[0]) / 2e-6, goal = analytic[i * X->ncols + f];
        if (fabs(found - goal) > 1e-6 * fmax(1, fabs(goal)))
            fail_msg("%s: differences %g, gradient %g", c->what, found, goal);
    }
}

static void finite_differences(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 12; t++) {
        attention_case c = new_case(&r, t % 2 ? REF_DOT : REF_LEAKY, FTB_FP64);
        run(&c);
        double *of_q = ref_block(c.dQ), *of_k = ref_block(c.dK), *of_v = ref_block(c.dV);
        differences(&c, &r, c.Q, of_q);
        differences(&c, &r, c.K, of_k);
        differences(&c, &r, c.V, of_v);
        free(of_q);
        free(of_k);
        free(of_v);
        free_case(&c);
    }
}

/* Scores of any size, -infinity, NaN; a row that attends to nothing gets 0. */
static void special_scores(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 1, 1, 2, 2, 3, 3}, J[] = {0, 1, 0, 1, 0, 1, 0, 1};
    const double e[] = {1e30, -1e30, -INFINITY, -INFINITY, -INFINITY, 5, NAN, 1};
    double x[4] = {0, 0, 0, 0}, v[2] = {3, 4}, c[4], lse[4];
    FtB_Matrix A;
    FtB_Block Q, K, V, C, L;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 4, 2, 1, 8, I, J, e, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_wrap(&Q, x, 4, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap(&K, x, 2, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap(&V, v, 2, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap(&C, c, 4, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap(&L, lse, 4, 1, 1, FTB_FP64));
    for (int t = 0; t < PLANS; t++) {
        FtB_Plan plan;
        FtB_Descriptor desc;
        current = &plans[t];
        assert_ok(planned_attention(&plan, &desc, C, A, FTB_ARG("plus : edge + 0 * dot(src, dst)"), Q, K, V,
                                    FTB_ATTENTION_OPTIONS(.lse = L), 0));
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
        assert_true(c[0] == 3 && c[1] == 0 && c[2] == 4 && isnan(c[3]));
        assert_true(lse[0] == 1e30 && lse[1] == -INFINITY && lse[2] == 5 && isnan(lse[3]));
    }
    any_plan();
    FtB_Matrix_free(&A);
    FtB_Block_free(&Q);
    FtB_Block_free(&K);
    FtB_Block_free(&V);
    FtB_Block_free(&C);
    FtB_Block_free(&L);
}

/* accum keeps rows without entries; a pattern only; the result over memory of an operand. */
static void accumulators(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0}, J[] = {0, 1};
    float q[4] = {0}, v[4] = {1, 10, 3, 20}, c[4] = {100, 100, 100, 100};
    FtB_Matrix A;
    FtB_Block Q, V, C;
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 2, 2, 0, 2, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_wrap(&Q, q, 2, 2, 2, FTB_FP32));
    assert_ok(FtB_Block_wrap(&V, v, 2, 2, 2, FTB_FP32));
    assert_ok(FtB_Block_wrap(&C, c, 2, 2, 2, FTB_FP32));
    assert_ok(FtB_attention(C, A, "x + y", FTB_PLUS_DOT, Q, Q, V, NULL, NULL));
    assert_true(c[0] == 102 && c[1] == 115 && c[2] == 100 && c[3] == 100);
    assert_ok(FtB_attention(V, A, NULL, FTB_PLUS_DOT, Q, Q, V, NULL, NULL));
    assert_true(v[0] == 2 && v[1] == 15 && v[2] == 0 && v[3] == 0);
    FtB_Matrix_free(&A);
    FtB_Block_free(&Q);
    FtB_Block_free(&V);
    FtB_Block_free(&C);
}

/* Scores over a domain of GraphBLAS wrap to it, as those of FtB_mxm do: 308 and 179 in 8 bits are 52 and -77
 * or 179. */
static void domains(void **state)
{
    const struct {
        GrB_Semiring semiring;
        double first, second;
    } rows[] = {{GrB_PLUS_TIMES_SEMIRING_INT8, 52, -77},
                {GrB_PLUS_TIMES_SEMIRING_UINT8, 52, 179},
                {GrB_PLUS_TIMES_SEMIRING_INT16, 308, 179},
                {GrB_PLUS_TIMES_SEMIRING_FP32, 308, 179}};
    static const char *const kernels[] = {"fused", "staged"};
    const int64_t I[] = {0, 0}, J[] = {0, 1};
    int8_t q[] = {100, 1, 5, 3}, k[] = {3, 0, 1, 1, 0, 20, 30, 3};
    double v[] = {1, 0, 0, 1}, c[2], l[1];
    FtB_Matrix A;
    FtB_Block Q, K, V, C, L;
    (void)state;
    assert_ok(FtB_Matrix_build(&A, FTB_INT8, 1, 2, 0, 2, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_wrap(&Q, q, 1, 4, 4, FTB_INT8));
    assert_ok(FtB_Block_wrap(&K, k, 2, 4, 4, FTB_INT8));
    assert_ok(FtB_Block_wrap(&V, v, 2, 2, 2, FTB_FP64));
    assert_ok(FtB_Block_wrap(&C, c, 1, 2, 2, FTB_FP64));
    assert_ok(FtB_Block_wrap(&L, l, 1, 1, 1, FTB_FP64));
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int kernel = 0; kernel < 2; kernel++) {
            FtB_Plan plan;
            FtB_Descriptor desc;
            assert_ok(
                FtB_attention_plan(&plan, C, A, NULL, rows[r].semiring, Q, K, V, NULL, NULL, FTB_ESTIMATE));
            assert_ok(FtB_Plan_set(plan, "kernel", kernels[kernel]));
            assert_ok(planned_descriptor(&desc, NULL, plan));
            assert_ok(
                FtB_attention(C, A, NULL, rows[r].semiring, Q, K, V, FTB_ATTENTION_OPTIONS(.lse = L), desc));
            const double most = fmax(rows[r].first, rows[r].second);
            if (fabs(l[0] - most) > 1e-3 || (c[0] > 0.5) != (rows[r].first == most))
                fail_msg("row %d, %s: %g %g, log of sums %g", (int)r, kernels[kernel], c[0], c[1], l[0]);
            FtB_Descriptor_free(&desc);
            FtB_Plan_free(&plan);
        }
    FtB_Block *blocks[] = {&Q, &K, &V, &C, &L};
    for (int b = 0; b < 5; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 6, 1, 0.9);
    FtB_Block Q = rng_heads(&r, FTB_FP32, 4, 2, 6, rng_reals),
              K = rng_heads(&r, FTB_FP32, 6, 2, 6, rng_reals),
              V = rng_heads(&r, FTB_FP32, 6, 3, 2, rng_reals);
    FtB_Block V2, C, L;
    FtB_Semiring dot = FTB_PLUS_DOT;
    assert_ok(FtB_Block_heads(&V2, V, 2));
    assert_ok(FtB_Block_new(&C, 4, 6, FTB_FP32));
    assert_ok(FtB_Block_new(&L, 4, 3, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "V: 3 heads", FtB_attention(C, A, NULL, dot, Q, K, V, NULL, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "Q: 6 rows", FtB_attention(C, A, NULL, dot, K, K, V2, NULL, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "the score has 6 values",
                 FtB_attention(C, A, NULL, "plus : src * dst", Q, K, V2, NULL, NULL));
    assert_fails(GrB_INVALID_VALUE, "dropout",
                 FtB_attention(C, A, NULL, dot, Q, K, V2, FTB_ATTENTION_OPTIONS(.dropout = 1), NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "lse is 4 x 3",
                 FtB_attention(C, A, NULL, dot, Q, K, V2, FTB_ATTENTION_OPTIONS(.lse = L), NULL));
    assert_fails(GrB_INVALID_VALUE, "the transposed matrix, FtB_apply(T, NULL, NULL, \"x\", A, FTB_DESC_T0)",
                 FtB_attention(C, A, NULL, dot, Q, K, V2, NULL, FTB_DESC_T0));
    assert_fails(GrB_NULL_POINTER, "lse is NULL",
                 FtB_attention_grad(Q, NULL, NULL, C, A, dot, Q, K, V2, C, NULL, NULL));
    assert_fails(
        GrB_DOMAIN_MISMATCH, "gradient of fused attention",
        FtB_attention_grad(Q, NULL, NULL, C, A, "plus : edge * dot(src, dst)", Q, K, V2, C, NULL, NULL));
    FtB_Matrix_free(&A);
    FtB_Block_free(&Q);
    FtB_Block_free(&K);
    FtB_Block_free(&V);
    FtB_Block_free(&V2);
    FtB_Block_free(&C);
    FtB_Block_free(&L);
}

static void plans_as_objects(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 30, 50, 1, 0.4), B = rng_matrix(&r, FTB_FP32, 30, 50, 1, 0.2);
    FtB_Block Q = rng_heads(&r, FTB_FP32, 30, 4, 3, rng_reals),
              K = rng_heads(&r, FTB_FP32, 50, 4, 3, rng_reals), C;
    FtB_Plan plan;
    FtB_Descriptor desc;
    FtB_Semiring dot = FTB_PLUS_DOT;
    assert_ok(FtB_Block_new(&C, 30, 12, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "plan: NULL",
                 FtB_attention_plan(NULL, C, A, NULL, dot, Q, K, K, NULL, NULL, FTB_ESTIMATE));
    assert_fails(GrB_DIMENSION_MISMATCH, "Q: 50 rows",
                 FtB_attention_plan(&plan, C, A, NULL, dot, K, K, K, NULL, NULL, FTB_ESTIMATE));
    assert_null(plan);
    assert_ok(FtB_attention_plan(&plan, C, A, NULL, dot, Q, K, K, NULL, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(plan, "segment", "20"));
    assert_ok(FtB_Plan_set(plan, "tile", "3"));
    assert_true(planned_figure(plan, "tile") == 3);
    assert_true(planned_figure(plan, "segments") == 3);
    assert_plan_says(plan, "softmax(S<A> = Q K') V");
    assert_plan_says(plan, "kernel attention_dot_f32");
    assert_fails(GrB_INVALID_VALUE, "heads of a tile", FtB_Plan_set(plan, "tile", "0"));
    assert_ok(planned_descriptor(&desc, NULL, plan));
    assert_ok(FtB_attention(C, A, NULL, dot, Q, K, K, NULL, desc));
    assert_fails(GrB_INVALID_VALUE, "made for another product",
                 FtB_attention(C, B, NULL, dot, Q, K, K, NULL, desc));
    assert_fails(GrB_INVALID_VALUE, "this is sparse x block",
                 FtB_mxm(C, NULL, NULL, "plus : src", A, K, desc));
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Block_free(&Q);
    FtB_Block_free(&K);
    FtB_Block_free(&C);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL;
    FtB_Block Q = NULL, C = NULL, L = NULL;
    FtB_Plan plan = NULL;
    FtB_Descriptor desc = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 1};
    const float x[] = {1, 2, 3, 4};
    if ((info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 4, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&Q, 3, 3, FTB_BF16)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&C, 3, 3, FTB_FP32)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&L, 3, 1, FTB_FP64)) == GrB_SUCCESS) {
        const FtB_Attention_options *options = FTB_ATTENTION_OPTIONS(.lse = L);
        info = planned_attention(&plan, &desc, C, A, FTB_ARG((const char *)arg), Q, Q, Q, options, 0);
        if (info == GrB_SUCCESS && !strstr(arg, "edge"))
            info = FtB_attention_grad(Q, NULL, NULL, C, A, (const char *)arg, Q, Q, Q, C, options, desc);
    }
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&A);
    FtB_Block_free(&Q);
    FtB_Block_free(&C);
    FtB_Block_free(&L);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    char dot[] = "plus : dot(src, dst)", any[] = "plus : edge + sum(src)";
    static const int some[] = {0, 1, 7};
    for (int t = 0; t < 3; t++) {
        current = &plans[some[t]];
        fail_every_allocation(call, NULL, dot);
        fail_every_allocation(call, NULL, any);
    }
    any_plan();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),
        cmocka_unit_test(bits),
        cmocka_unit_test(four_heads),
        cmocka_unit_test(four_special),
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(special_scores),
        cmocka_unit_test(accumulators),
        cmocka_unit_test(refusals),
        cmocka_unit_test(domains),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(plans_as_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
