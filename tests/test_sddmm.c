/* FtB_mxm of two blocks under a mask: forms, masks, accumulators, heads, widths and dtypes at random against
 * a loop over entries and against GraphBLAS; the same bits from every plan, instruction set and number of
 * threads; the planner's rule for machines that are not there. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/backend.h"
#include "core/core.h"
#include "core/isa.h"
#include "oracle/ref_case.h"
#include "oracle/ref_sddmm.h"
#include "plan/sddmm_plan.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/planned.h"

#include <math.h>
#include <stdlib.h>

#define CASES rng_cases(1500)

/* Rows as they lie, segments, segments and tiles, the rule's. */
static const planned plans[] = {{"rows", NULL, NULL},      {"segments", "1", NULL},
                                {"segments", "3", "256"},  {"segments", "16", "512"},
                                {"segments", "64", "256"}, {NULL, NULL, NULL}};
#define PLANS ((int)(sizeof plans / sizeof *plans))
static const planned *current;

static int next_plan(int t)
{
    current = &plans[t % PLANS];
    ftb_isa_force((t / PLANS) % 4 - 1);
    assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
    return t + 1;
}

static void any_plan(void)
{
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* FtB_mxm by the current plan. */
static GrB_Info planned_mxm(FtB_Matrix C, FtB_Matrix M, FtB_Arg accum, FtB_Arg semiring, FtB_Block Y,
                            FtB_Block X, FtB_Descriptor like)
{
    FtB_Plan plan = NULL;
    FtB_Descriptor desc = NULL;
    GrB_Info info = FtB_mxm_plan(&plan, C, M, accum, semiring, Y, X, like, FTB_ESTIMATE);
    if (info == GrB_SUCCESS)
        info = planned_force(plan, current);
    if (info == GrB_SUCCESS)
        info = planned_descriptor(&desc, like, plan);
    if (info == GrB_SUCCESS)
        info = FtB_mxm(C, M, accum, semiring, Y, X, desc);
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    return info;
}

static bool can_be_edge(const ref_matrix *M)
{
    return M->width <= 1 && (M->type < FTB_UINT8 || M->type > FTB_UINT64);
}

/* Whether GraphBLAS could do the same. */
static bool in_graphblas(const ref_case *c, const ref_score *s, FtB_Block Y, FtB_Block X)
{
    return c->grb_C && strcmp(s->text, "dot(src, dst)") == 0 && Y->heads == 1 && X->heads == 1 &&
           ftb_type_float(c->old->type) && ftb_type_float(X->type);
}

static GrB_Matrix dense(FtB_Block X)
{
    GrB_Matrix G;
    assert_int_equal(GrB_Matrix_new(&G, GrB_FP64, (GrB_Index)X->nrows, (GrB_Index)X->ncols), GrB_SUCCESS);
    double *x = ref_block(X);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            GrB_Matrix_setElement_FP64(G, x[i * X->ncols + f], (GrB_Index)i, (GrB_Index)f);
    free(x);
    return G;
}

static void same_in_graphblas(const ref_case *c, FtB_Block Y, FtB_Block X)
{
    GrB_Matrix y = dense(Y), x = dense(X);
    assert_int_equal(GrB_mxm(c->grb_C, c->grb_M, c->accum ? c->accum->grb : NULL,
                             GrB_PLUS_TIMES_SEMIRING_FP64, y, x, c->flags.grb),
                     GrB_SUCCESS);
    ref_case_check_grb(c, 1e-12);
    GrB_Matrix_free(&y);
    GrB_Matrix_free(&x);
}

/* false: the dice made no case. */
static bool random_case(rng *r, int *compared)
{
    static const int64_t widths[] = {1, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 100, 128, 300};
    static const FtB_Type types[] = {FTB_FP32, FTB_FP32, FTB_FP64, FTB_BF16, FTB_FP16, FTB_INT32};
    const ref_score *s = ref_score_of((int)rng_below(r, ref_scores()));
    int64_t nrows = ref_dimension(r), ncols = ref_dimension(r), width = widths[rng_below(r, 16)];
    int64_t heads = rng_below(r, 2) ? 1 : 1 + rng_below(r, 8);
    if (s->wide && heads * width > 40)
        return false;
    ref_case c = ref_case_new(r, nrows, ncols, heads * (s->wide ? width : 1), 2);
    bool small = c.old->type == FTB_FP16 || c.old->type == FTB_BF16; /* sums round twice there */
    if (!c.M || c.flags.complement || c.flags.transpose0 || !c.flags.transpose1 ||
        (s->edge && !can_be_edge(c.mask)) || (small && c.accum)) {
        ref_case_free(&c);
        return false;
    }
    bool lone = heads > 1 && rng_below(r, 4) == 0 && strcmp(s->text, "dst") != 0;
    FtB_Type type = types[rng_below(r, 6)];
    FtB_Block Y = rng_heads(r, rng_below(r, 4) ? type : FTB_FP32, nrows, lone ? 1 : heads, width, rng_values);
    FtB_Block X = rng_heads(r, type, ncols, heads, width, rng_values);
    size_t length = strlen(c.what);
    snprintf(c.what + length, sizeof c.what - length, ", %s of %s and %s, %d x %d", s->text,
             FtB_Type_name(Y->type), FtB_Type_name(X->type), (int)heads, (int)width);
    char text[64];
    snprintf(text, sizeof text, "plus : %s", s->text);
    ref_matrix *T = ref_sddmm(s, Y, X, c.mask, &c.flags);
    FtB_Arg accum = ref_op_arg(c.accum);
    assert_ok(planned_mxm(c.C, c.M, accum, FTB_ARG(text), Y, X, c.flags.descriptor));
    ref_case_check(&c, T, 1e-12);
    if (in_graphblas(&c, s, Y, X)) {
        same_in_graphblas(&c, Y, X);
        ++*compared;
    }
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
    ref_case_free(&c);
    return true;
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    int compared = 0;
    for (int t = 0, plan = 0; t < CASES;) {
        plan = next_plan(plan);
        t += random_case(&r, &compared);
    }
    any_plan();
    assert_true(compared > 0);
}

/* A dot product's bits depend on its operands alone. */
static void bits(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{1, 1},   {1, 3},   {1, 7},  {1, 15}, {1, 16},  {1, 33}, {1, 64},
                                        {1, 128}, {1, 602}, {8, 16}, {3, 33}, {5, 2},   {2, 4},  {8, 1},
                                        {3, 8},   {4, 40},  {2, 48}, {7, 16}, {1, 1024}};
    rng r = rng_new();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (FtB_Type type = FTB_FP32; type <= FTB_FP64; type++) {
            int64_t heads = shapes[k][0], width = shapes[k][1];
            FtB_Matrix M = rng_matrix(&r, FTB_BOOL, 40, 90, 0, 0.3), first = NULL, C;
            FtB_Block Y = rng_heads(&r, type, 40, heads, width, rng_values),
                      X = rng_heads(&r, type, 90, heads, width, rng_values);
            for (int64_t x = 0; x < 90 * X->ncols; x++) {
                int64_t at = x / X->ncols * X->ld + x % X->ncols;
                double value = rng_unit(&r) - 0.5;
                ftb_cast((char *)block_values(X) + (size_t)at * FtB_Type_size(type), type, &value, FTB_FP64,
                         1);
            }
            for (int t = 0; t < 3 * 4 * PLANS; t += 5) { /* every plan, set and number of threads */
                next_plan(t);
                assert_ok(FtB_Matrix_new(&C, type, 40, 90, 1));
                assert_ok(planned_mxm(C, M, FTB_ARG(NULL), FTB_ARG(FTB_PLUS_DOT), Y, X, FTB_DESC_ST1));
                assert_ptr_equal(C->pattern, M->pattern);
                if (first)
                    assert_same(C, first);
                else
                    assert_ok(FtB_Matrix_dup(&first, C));
                FtB_Matrix_free(&C);
            }
            FtB_Matrix_free(&M);
            FtB_Matrix_free(&first);
            FtB_Block_free(&Y);
            FtB_Block_free(&X);
        }
    any_plan();
}

/* Rows that do not stay in L3 are walked part by part. */
static void rows_in_parts(void **state)
{
    (void)state;
    static const planned by_rows = {"rows", NULL, NULL}, by_segments = {"segments", "3", NULL};
    const int64_t nrows = 140000, ncols = 40, width = 64; /* 36 MB: three parts */
    rng r = rng_new();
    FtB_Matrix M = rng_matrix(&r, FTB_BOOL, nrows, ncols, 0, 0.1), expected, C;
    FtB_Block Y = rng_heads(&r, FTB_FP32, nrows, 1, width, rng_values),
              X = rng_heads(&r, FTB_FP32, ncols, 1, width, rng_values);
    assert_ok(FtB_Matrix_new(&expected, FTB_FP32, nrows, ncols, 1));
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, nrows, ncols, 1));
    current = &by_rows;
    assert_ok(planned_mxm(expected, M, FTB_ARG(NULL), FTB_ARG(FTB_PLUS_DOT), Y, X, FTB_DESC_ST1));
    current = &by_segments;
    assert_ok(planned_mxm(C, M, FTB_ARG(NULL), FTB_ARG(FTB_PLUS_DOT), Y, X, FTB_DESC_ST1));
    assert_same(C, expected);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&expected);
    FtB_Matrix_free(&C);
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
}

/* NaN and infinity reach the entries that read them, and no others. */
static void not_numbers(void **state)
{
    (void)state;
    float y[2 * 20], x[3 * 20];
    const int64_t I[] = {0, 0, 1, 1}, J[] = {0, 1, 1, 2};
    FtB_Matrix M, C;
    FtB_Block Y, X;
    for (int f = 0; f < 40; f++)
        y[f] = 1;
    for (int f = 0; f < 60; f++)
        x[f] = 1;
    x[19] = NAN;
    x[20] = INFINITY;
    assert_ok(FtB_Matrix_build(&M, FTB_BOOL, 2, 3, 0, 4, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_wrap(&Y, y, 2, 20, 20, FTB_FP32));
    assert_ok(FtB_Block_wrap(&X, x, 3, 20, 20, FTB_FP32));
    for (int t = 0; t < 4 * PLANS; t++) {
        next_plan(t);
        assert_ok(FtB_Matrix_new(&C, FTB_FP32, 2, 3, 1));
        assert_ok(planned_mxm(C, M, FTB_ARG(NULL), FTB_ARG(FTB_PLUS_DOT), Y, X, FTB_DESC_T1));
        const float *c = matrix_values(C);
        assert_true(isnan(c[0]) && isinf(c[1]) && isinf(c[2]) && c[3] == 20);
        FtB_Matrix_free(&C);
    }
    any_plan();
    FtB_Matrix_free(&M);
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
}

static void graphblas_semirings(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix M = rng_matrix(&r, FTB_BOOL, 12, 9, 0, 0.5), C, D;
    FtB_Block Y = rng_heads(&r, FTB_FP64, 12, 1, 5, rng_values),
              X = rng_heads(&r, FTB_FP64, 9, 1, 5, rng_values);
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 12, 9, 1));
    assert_ok(FtB_Matrix_new(&D, FTB_FP64, 12, 9, 1));
    assert_ok(FtB_mxm(C, M, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, Y, X, FTB_DESC_ST1));
    assert_ok(FtB_mxm(D, M, NULL, "plus : dot(src, dst)", Y, X, FTB_DESC_ST1));
    assert_same(C, D);
#ifdef GxB_IMPLEMENTATION
    assert_ok(FtB_mxm(C, M, NULL, GxB_ANY_SECONDJ1_INT64, Y, X, FTB_DESC_ST1));
    assert_ok(FtB_mxm(D, M, NULL, "plus : j + 1", Y, X, FTB_DESC_ST1));
    assert_same(C, D);
    assert_ok(FtB_mxm(C, M, NULL, GxB_ANY_FIRSTI_INT64, Y, X, FTB_DESC_ST1));
    assert_ok(FtB_mxm(D, M, NULL, "plus : i", Y, X, FTB_DESC_ST1));
    assert_same(C, D);
    assert_fails(GrB_DOMAIN_MISMATCH, "the inner index",
                 FtB_mxm(C, M, NULL, GxB_ANY_FIRSTJ_INT64, Y, X, FTB_DESC_ST1));
    assert_fails(GrB_DOMAIN_MISMATCH, "neither block",
                 FtB_mxm(C, M, NULL, GxB_PLUS_SECONDJ_INT64, Y, X, FTB_DESC_ST1));
    assert_fails(GrB_DOMAIN_MISMATCH, "neither block",
                 FtB_mxm(C, M, NULL, GxB_PLUS_PAIR_FP32, Y, X, FTB_DESC_ST1));
#endif
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&D);
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix M = rng_matrix(&r, FTB_FP32, 4, 6, 1, 0.5), C, W;
    FtB_Block Y = rng_heads(&r, FTB_FP32, 4, 1, 6, rng_values),
              X = rng_heads(&r, FTB_FP32, 6, 1, 6, rng_values), Y2, X3;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, 4, 6, 1));
    assert_ok(FtB_Matrix_like(&W, M, 2, FTB_FP32));
    assert_ok(FtB_Block_heads(&Y2, Y, 2));
    assert_ok(FtB_Block_heads(&X3, X, 3));
    FtB_Semiring dot = FTB_PLUS_DOT;
    assert_fails(GrB_NULL_POINTER, "M is NULL", FtB_mxm(C, NULL, NULL, dot, Y, X, FTB_DESC_T1));
    assert_fails(GrB_INVALID_VALUE, "TRANSPOSE1", FtB_mxm(C, M, NULL, dot, Y, X, NULL));
    assert_fails(GrB_INVALID_VALUE, "TRANSPOSE0", FtB_mxm(C, M, NULL, dot, Y, X, FTB_DESC_T0T1));
    assert_fails(GrB_INVALID_VALUE, "complemented", FtB_mxm(C, M, NULL, dot, Y, X, FTB_DESC_CT1));
    assert_fails(GrB_DIMENSION_MISMATCH, "A: 6 rows", FtB_mxm(C, M, NULL, dot, X, X, FTB_DESC_T1));
    assert_fails(GrB_DIMENSION_MISMATCH, "B: 4 rows", FtB_mxm(C, M, NULL, dot, Y, Y, FTB_DESC_T1));
    assert_fails(GrB_DOMAIN_MISMATCH, "structural", FtB_mxm(C, W, NULL, dot, Y, X, FTB_DESC_T1));
    assert_fails(GrB_DIMENSION_MISMATCH, "heads", FtB_mxm(C, M, NULL, dot, Y2, X3, FTB_DESC_T1));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'x'", FtB_mxm(C, M, NULL, "plus : x", Y, X, FTB_DESC_T1));
    assert_fails(GrB_INVALID_VALUE, "B is an FtB_Matrix", FtB_mxm(C, M, NULL, dot, Y, M, FTB_DESC_T1));
    assert_int_equal(C->pattern->nvals, 0);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&W);
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
    FtB_Block_free(&Y2);
    FtB_Block_free(&X3);
}

/* A plan of 40 x 60 products of 600 features. */
static void force_and_explain(FtB_Plan plan)
{
    assert_ok(FtB_Plan_set(plan, "segment", "17"));
    assert_ok(FtB_Plan_set(plan, "tile", "300"));
    assert_ok(FtB_Plan_set(plan, "threads", "2"));
    assert_true(planned_figure(plan, "segments") == 4);
    assert_true(planned_figure(plan, "tile") == 512); /* whole pieces */
    assert_plan_says(plan, "S<A> = Y X', A[");
    assert_plan_says(plan, "kernel dot_f32");
    assert_plan_says(plan, "<- asked for");
    assert_plan_says(plan, "4 segments of 17 sources");
    assert_ok(FtB_Plan_set(plan, "kernel", "rows"));
    assert_true(planned_figure(plan, "segments") == 0);
    assert_fails(GrB_INVALID_VALUE, "auto, rows, segments or cusparse", FtB_Plan_set(plan, "kernel", "fast"));
    assert_fails(GrB_INVALID_VALUE, "1 to 65536", FtB_Plan_set(plan, "segment", "65537"));
    assert_fails(GrB_INVALID_VALUE, "kernel, segment, tile, threads", FtB_Plan_set(plan, "ids", "16"));
    assert_fails(GrB_INVALID_VALUE, "known are segment", FtB_Plan_get(plan, "triangle", &(double){0}));
}

/* Plans explain themselves, can be forced, and are refused for other products. */
static void plans_as_objects(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix M = rng_matrix(&r, FTB_FP32, 40, 60, 1, 0.3), N = rng_matrix(&r, FTB_FP32, 40, 60, 1, 0.2), C,
               S;
    FtB_Block Y = rng_heads(&r, FTB_FP32, 40, 1, 600, rng_values),
              X = rng_heads(&r, FTB_FP32, 60, 1, 600, rng_values);
    FtB_Plan plan, other;
    FtB_Descriptor desc;
    FtB_Semiring dot = FTB_PLUS_DOT;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, 40, 60, 1));
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 40, 40, 1));
    assert_ok(FtB_mxm_plan(&plan, C, M, NULL, dot, Y, X, FTB_DESC_ST1, FTB_ESTIMATE));
    force_and_explain(plan);
    assert_ok(planned_descriptor(&desc, FTB_DESC_ST1, plan));
    assert_ok(FtB_mxm(C, M, NULL, dot, Y, X, desc));
    assert_fails(GrB_INVALID_VALUE, "made for another product", FtB_mxm(C, N, NULL, dot, Y, X, desc));
    assert_fails(GrB_INVALID_VALUE, "with 654 entries, 600 features in 1 heads, program",
                 FtB_mxm(C, M, NULL, "plus : sum(src - dst)", Y, X, desc));
    assert_fails(GrB_INVALID_VALUE, "made for block x block'",
                 FtB_mxm(S, NULL, NULL, "plus : a", M, N, desc));
    assert_ok(FtB_Descriptor_set(desc, FTB_TRANSPOSE1, false));
    assert_fails(GrB_INVALID_VALUE, "this is sparse x block",
                 FtB_mxm(Y, NULL, NULL, "plus : src", M, X, desc));
    assert_ok(FtB_Descriptor_set(desc, FTB_TRANSPOSE1, true));
    assert_ok(
        FtB_mxm_plan(&other, C, M, NULL, "plus : tanh(sum(src) * edge)", Y, X, FTB_DESC_ST1, FTB_ESTIMATE));
    assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, other));
    assert_ok(FtB_mxm(C, M, NULL, "plus : tanh(sum(src) * edge)", Y, X, desc));
    assert_fails(GrB_INVALID_VALUE, "made for another product", FtB_mxm(C, M, NULL, dot, Y, X, desc));
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    FtB_Plan_free(&other);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&N);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&C);
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix M = NULL, C = NULL, before = NULL;
    FtB_Block Y = NULL, X = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 1};
    const float m[] = {1, 0, 3, 4};
    if ((info = FtB_Matrix_build(&M, FTB_FP32, 3, 3, 1, 4, I, J, m, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_dup(&C, M)) == GrB_SUCCESS && (info = FtB_Matrix_dup(&before, M)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&Y, 3, 3, FTB_BF16)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&X, 3, 3, FTB_FP32)) == GrB_SUCCESS &&
        (info = planned_mxm(C, M, FTB_ARG("x + y"), FTB_ARG((const char *)arg), Y, X, FTB_DESC_T1)) !=
            GrB_SUCCESS)
        assert_same(C, before);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
    return info;
}

static const void *values_of(FtB_Matrix C)
{
    const void *values;
    assert_ok(FtB_Matrix_csr(C, NULL, NULL, &values));
    return values;
}

/* A product over C's values: unchanged on failure. */
static GrB_Info call_over(void *arg)
{
    FtB_Matrix M = NULL, C = NULL, before = NULL;
    FtB_Block Y = NULL, X = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 1};
    const float m[] = {1, 5, 3, 4};
    (void)arg;
    if ((info = FtB_Matrix_build(&M, FTB_FP32, 3, 3, 1, 4, I, J, m, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_dup(&C, M)) == GrB_SUCCESS && (info = FtB_Matrix_dup(&before, M)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&Y, 3, 3, FTB_BF16)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&X, 3, 3, FTB_FP32)) == GrB_SUCCESS &&
        (info = planned_mxm(C, M, FTB_ARG(NULL), FTB_ARG(FTB_PLUS_DOT), Y, X, FTB_DESC_ST1)) != GrB_SUCCESS)
        assert_same(C, before);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
    return info;
}

/* Into a matrix of the mask's pattern: over its values, unless an operand lies there. */
static void over_values(void **state)
{
    FtB_Matrix M, C, fresh;
    FtB_Block Y, X, inside;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 3};
    const float m[] = {1, 2, 3, 4};
    (void)state;
    assert_ok(FtB_Matrix_build(&M, FTB_FP32, 3, 4, 1, 4, I, J, m, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&Y, 3, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&X, 4, 1, FTB_FP32));
    for (int i = 0; i < 4; i++) {
        ((float *)block_values(X))[i] = m[i];
        ((float *)block_values(Y))[i % 3] = 2;
    }
    for (int shared = 0; shared < 3; shared++) {
        assert_ok(FtB_Matrix_dup(&C, M));
        assert_ok(FtB_Matrix_new(&fresh, FTB_FP32, 3, 4, 1));
        assert_ok(FtB_mxm(fresh, M, NULL, FTB_PLUS_DOT, Y, X, FTB_DESC_ST1));
        const void *at = values_of(C);
        if (shared == 2)
            assert_ok(FtB_Matrix_values(&inside, C));
        else
            assert_ok(FtB_Block_wrap(&inside, (float *)(uintptr_t)at, 4, 1, 1, FTB_FP32));
        assert_ok(FtB_mxm(C, M, NULL, FTB_PLUS_DOT, Y, shared ? inside : X, FTB_DESC_ST1));
        assert_same(C, fresh);
        const bool copied = M->pattern->listed && !ftb_device(NULL); /* the rows that are read */
        assert_true((values_of(C) == at) == (shared == 0 || copied));
        FtB_Block_free(&inside);
        FtB_Matrix_free(&fresh);
        FtB_Matrix_free(&C);
    }
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
    FtB_Matrix_free(&M);
}

static void failing_allocations(void **state)
{
    (void)state;
    char dot[] = "plus : dot(src, dst)", any[] = "plus : edge + sum(src) * di";
    for (int t = 0; t < 3; t++) {
        current = &plans[t];
        fail_every_allocation(call, NULL, dot);
        fail_every_allocation(call_over, NULL, NULL);
    }
    any_plan();
    fail_every_allocation(call, NULL, any);
}

/* rand-100k's shape: 20,000 rows of 2,000 entries and 80,000 of 100. */
static ftb_sddmm_facts large(int64_t bytes)
{
    ftb_sddmm_facts f = {.nrows = 100000,
                         .ncols = 100000,
                         .nvals = 48000000,
                         .source_bytes = bytes,
                         .row_bytes = bytes,
                         .entry_bytes = 4,
                         .piece_bytes = bytes > 1024 ? 1024 : 0,
                         .memory_left = INT64_MAX};
    f.degrees.rows[10] = 20000;
    f.degrees.entries[10] = 40000000;
    f.degrees.rows[6] = 80000;
    f.degrees.entries[6] = 8000000;
    return f;
}

static void rule(void **state)
{
    (void)state;
    const ftb_machine_facts skylake = {.cores = 1, .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 33 << 20};
    const ftb_machine_facts rapids = {.cores = 2, .l1 = 48 << 10, .l2 = 2 << 20, .l3 = 240 << 20};
    ftb_sddmm_facts f = large(512);
    ftb_sddmm_plan p = {0};
    ftb_rule_sddmm(&p, &f, &skylake);
    assert_true(p.segment >= 1024 && p.segment <= 8192); /* half of L2 to four times that much */
    ftb_rule_sddmm(&p, &f, &rapids);
    assert_true(p.segment >= 2048 && p.segment <= 16384);
    assert_true(p.seconds < p.direct);
    f.attention = true;
    ftb_rule_sddmm(&p, &f, &rapids);
    assert_true(p.segment >= 1024 && p.segment <= 16384);
    f.memory_left = 1000;
    ftb_rule_sddmm(&p, &f, &rapids);
    assert_int_equal(p.segment, 0);
    f = large(4096);
    ftb_rule_sddmm(&p, &f, &rapids);
    assert_true(p.segment >= 256 && p.tile % 1024 == 0 && p.segment * p.tile <= 16 << 20);
    f = large(512); /* roads: sources would be packed for less than one visit each */
    f.nrows = f.ncols = 24000000;
    f.degrees = (ftb_degrees){0};
    f.degrees.rows[1] = 24000000;
    f.degrees.entries[1] = f.nvals;
    ftb_rule_sddmm(&p, &f, &rapids);
    assert_int_equal(p.segment, 0);
    f = (ftb_sddmm_facts){.nrows = 10, .ncols = 10, .memory_left = INT64_MAX, .source_bytes = 64};
    ftb_rule_sddmm(&p, &f, &rapids);
    assert_int_equal(p.segment, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),        cmocka_unit_test(bits),
        cmocka_unit_test(rows_in_parts),       cmocka_unit_test(not_numbers),
        cmocka_unit_test(graphblas_semirings), cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations), cmocka_unit_test(rule),
        cmocka_unit_test(over_values),         cmocka_unit_test(plans_as_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
