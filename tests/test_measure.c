/* FTB_MEASURE over the entries of a graph: outputs are untouched while it looks, what was forced stays, the
 * plan says that it was measured, and it is good for the call: the same bits of dot products, the same result
 * within rounding of attention, whose plan gives its own bits again. */
#include "support/check.h"

#include "core/core.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 150
#define COLS 200
#define FEATURES 48

typedef struct operands {
    FtB_Matrix A, S, T;
    FtB_Block Q, K, C, D;
} operands;

static FtB_Block block(rng *r, int64_t nrows, int64_t ncols, int64_t heads)
{
    FtB_Block whole, X;
    assert_ok(FtB_Block_new(&whole, nrows, ncols, FTB_FP32));
    for (int64_t t = 0; t < nrows * ncols; t++)
        ((float *)whole->data)[t] = (float)rng_unit(r);
    assert_ok(FtB_Block_heads(&X, whole, heads));
    FtB_Block_free(&whole);
    return X;
}

static operands make(rng *r, int64_t heads)
{
    operands o = {.A = rng_matrix(r, FTB_FP32, ROWS, COLS, 1, 0.2)};
    assert_ok(FtB_Matrix_new(&o.S, FTB_FP32, ROWS, COLS, heads));
    assert_ok(FtB_Matrix_new(&o.T, FTB_FP32, ROWS, COLS, heads));
    o.Q = block(r, ROWS, FEATURES, heads);
    o.K = block(r, COLS, FEATURES, heads);
    o.C = block(r, ROWS, FEATURES, heads);
    o.D = block(r, ROWS, FEATURES, heads);
    return o;
}

static void clear(operands *o)
{
    FtB_Matrix_free(&o->A);
    FtB_Matrix_free(&o->S);
    FtB_Matrix_free(&o->T);
    FtB_Block_free(&o->Q);
    FtB_Block_free(&o->K);
    FtB_Block_free(&o->C);
    FtB_Block_free(&o->D);
}

static void assert_says(FtB_Plan plan, const char *words)
{
    char text[4096] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    assert_ok(FtB_Plan_explain(plan, file));
    fclose(file);
    if (!strstr(text, words))
        fail_msg("'%s' is not in: %s", words, text);
}

static double figure(FtB_Plan plan, const char *key)
{
    double x;
    assert_ok(FtB_Plan_get(plan, key, &x));
    return x;
}

static void of_two_blocks(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int heads = 1; heads <= 4; heads += 3) {
        operands o = make(&r, heads);
        FtB_Plan plan, again;
        FtB_Descriptor desc;
        assert_ok(FtB_mxm_plan(&plan, o.S, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, FTB_DESC_RST1, FTB_MEASURE));
        assert_true(o.S->pattern->nvals == 0);
        assert_says(plan, "measured");
        assert_true(figure(plan, "seconds") > 0);
        assert_ok(planned_descriptor(&desc, FTB_DESC_RST1, plan));
        assert_ok(FtB_mxm(o.S, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, desc));
        assert_ok(FtB_mxm(o.T, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, FTB_DESC_RST1));
        assert_memory_equal(o.S->values->data, o.T->values->data,
                            (size_t)(o.A->pattern->nvals * heads) * sizeof(float));
        assert_ok(FtB_Plan_set(plan, "segment", "17"));
        assert_ok(FtB_mxm_plan(&again, o.S, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, desc, FTB_MEASURE));
        assert_true(figure(again, "segment") == 17 || figure(again, "segment") == 0);
        FtB_Plan_free(&again);
        assert_ok(FtB_mxm_plan(&again, o.S, o.A, NULL, "plus : tanh(sum(src) * edge)", o.Q, o.K,
                               FTB_DESC_RST1, FTB_MEASURE)); /* nothing to choose */
        FtB_Plan_free(&again);
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
        clear(&o);
    }
}

static void attend(const operands *o, FtB_Block C, const char *text, FtB_Plan plan)
{
    FtB_Descriptor desc;
    assert_ok(planned_descriptor(&desc, NULL, plan));
    assert_ok(FtB_attention(C, o->A, NULL, text, o->Q, o->K, o->K, NULL, desc));
    FtB_Descriptor_free(&desc);
}

static void of_attention(void **state)
{
    (void)state;
    rng r = rng_new();
    static const char *const texts[] = {"plus : dot(src, dst)", "plus : dot(src, dst) * edge"};
    for (int t = 0; t < 4; t++) {
        operands o = make(&r, t < 2 ? 3 : 1);
        const char *text = texts[t % 2];
        const size_t bytes = ROWS * FEATURES * sizeof(float);
        FtB_Plan plan;
        memset(o.C->data, 0, bytes);
        assert_ok(FtB_attention_plan(&plan, o.C, o.A, NULL, text, o.Q, o.K, o.K, NULL, NULL, FTB_MEASURE));
        for (int64_t v = 0; v < ROWS * FEATURES; v++)
            assert_true(((float *)o.C->data)[v] == 0);
        assert_says(plan, "<- measured");
        attend(&o, o.C, text, plan);
        attend(&o, o.D, text, plan);
        assert_memory_equal(o.C->data, o.D->data, bytes);
        assert_ok(FtB_Plan_set(plan, "kernel", figure(plan, "staged") > 0 ? "fused" : "staged"));
        attend(&o, o.D, text, plan);
        for (int64_t v = 0; v < ROWS * FEATURES; v++)
            assert_true(fabsf(((float *)o.C->data)[v] - ((float *)o.D->data)[v]) < 1e-5f);
        FtB_Plan_free(&plan);
        clear(&o);
    }
}

/* Values of one head for all cannot be summed in steps: what was asked for becomes what can be. */
static void impossible_steps(void **state)
{
    (void)state;
    rng r = rng_new();
    operands o = make(&r, 4);
    FtB_Block V = block(&r, COLS, FEATURES / 4, 1);
    FtB_Plan plan;
    assert_ok(FtB_attention_plan(&plan, o.C, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, V, NULL, NULL, FTB_MEASURE));
    assert_ok(FtB_Plan_set(plan, "kernel", "staged"));
    assert_true(figure(plan, "staged") == 0);
    assert_says(plan, "fused only");
    FtB_Plan_free(&plan);
    FtB_Block_free(&V);
    clear(&o);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL, S = NULL;
    FtB_Block Q = NULL, C = NULL;
    FtB_Plan plan = NULL;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 1};
    const float x[] = {1, 2, 3, 4};
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 4, I, J, x, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS && (info = FtB_Matrix_new(&S, FTB_FP32, 3, 3, 1)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&Q, 3, 3, FTB_BF16)) == GrB_SUCCESS)
        info = FtB_Block_new(&C, 3, 3, FTB_FP32);
    if (info == GrB_SUCCESS && arg)
        info = FtB_attention_plan(&plan, C, A, NULL, FTB_PLUS_DOT, Q, Q, Q, NULL, NULL, FTB_MEASURE);
    else if (info == GrB_SUCCESS)
        info = FtB_mxm_plan(&plan, S, A, NULL, FTB_PLUS_DOT, Q, Q, FTB_DESC_ST1, FTB_MEASURE);
    FtB_Wisdom_forget(NULL);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Block_free(&Q);
    FtB_Block_free(&C);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    FtB_Wisdom_forget(NULL);
    fail_every_allocation(call, NULL, NULL);
    fail_every_allocation(call, NULL, &(char){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_two_blocks), cmocka_unit_test(of_attention),
                                       cmocka_unit_test(impossible_steps),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
