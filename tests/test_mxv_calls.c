/* Sparse x vector: its plans, what is refused, failing allocations. */
#include "support/check.h"

#include "core/core.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/some_vectors.h"

/* ---- plans */

static void plans(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 300, 200, 1, 0.1), B = rng_matrix(&r, FTB_FP32, 200, 200, 1, 0.1);
    FtB_Vector u = rng_vector(&r, FTB_FP32, 200, 0.02), full = rng_vector(&r, FTB_FP32, 200, 2), w;
    FtB_Descriptor desc;
    FtB_Plan plan;
    assert_ok(FtB_Vector_new(&w, FTB_FP32, 300));
    assert_ok(FtB_Descriptor_new(&desc));
    for (int effort = FTB_ESTIMATE; effort <= FTB_MEASURE; effort++) {
        assert_ok(FtB_mxm_plan(&plan, w, NULL, NULL, FTB_MIN_PLUS, A, u, NULL, (FtB_Effort)effort));
        assert_plan_says(plan, "w[300] = A[");
        assert_plan_says(plan, "of 200 places, list]");
        assert_plan_says(plan, planned_figure(plan, "push") > 0 ? "push <- " : "pull <- ");
        assert_true(planned_figure(plan, "entries") == (double)u->v.nvals);
        assert_true(planned_figure(plan, "seconds") > 0);
        assert_fails(GrB_INVALID_VALUE, "auto, push, pull or all", FtB_Plan_set(plan, "way", "sideways"));
        assert_fails(GrB_INVALID_VALUE, "1 to 4096", FtB_Plan_set(plan, "threads", "0"));
        assert_fails(GrB_INVALID_VALUE, "way, threads", FtB_Plan_set(plan, "tile", "3"));
        assert_fails(GrB_INVALID_VALUE, "push_seconds", FtB_Plan_get(plan, "tile", &(double){0}));
        assert_ok(FtB_Plan_set(plan, "way", "all")); /* not with gaps */
        assert_true(planned_figure(plan, "all") == 0);
        assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
        assert_ok(FtB_mxv(w, NULL, NULL, FTB_MIN_PLUS, A, u, desc));
        assert_ok(FtB_mxv(w, NULL, NULL, FTB_MIN_PLUS, A, full, desc)); /* entries may be others */
        assert_fails(GrB_INVALID_VALUE, "made for another product",
                     FtB_mxv(u, NULL, NULL, FTB_MIN_PLUS, B, u, desc));
        FtB_Plan_free(&plan);
    }
    assert_ok(FtB_mxm_plan(&plan, w, NULL, NULL, FTB_MIN_PLUS, A, full, NULL, FTB_MEASURE));
    assert_true(planned_figure(plan, "all") == 1);
    FtB_Plan_free(&plan);
    assert_ok(FtB_mxm_plan(&plan, B, NULL, NULL, FTB_MIN_PLUS, B, B, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
    assert_fails(GrB_INVALID_VALUE, "this is sparse x vector",
                 FtB_mxv(w, NULL, NULL, FTB_MIN_PLUS, A, u, desc));
    FtB_Plan_free(&plan);
    FtB_Descriptor_free(&desc);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Vector_free(&u);
    FtB_Vector_free(&full);
    FtB_Vector_free(&w);
    assert_ok(FtB_Wisdom_forget(NULL));
}

/* A pattern's transpose is made when it was wanted often, not for one product. */
static void transposes(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 200, 200, 1, 0.2);
    FtB_Vector u, w;
    const int64_t at = 7;
    const float one = 1;
    int steps = 0;
    assert_ok(FtB_Vector_build(&u, FTB_FP32, 200, 1, &at, &one, FTB_DUP_ERROR));
    assert_ok(FtB_Vector_new(&w, FTB_FP32, 200));
    assert_ok(FtB_mxv(w, NULL, NULL, FTB_PLUS_TIMES, A, u, NULL));
    assert_false(ftb_pattern_transposed(A->pattern, false));
    for (; !ftb_pattern_transposed(A->pattern, false) && steps < 100; steps++)
        assert_ok(FtB_mxv(w, NULL, NULL, FTB_PLUS_TIMES, A, u, NULL));
    assert_true(steps > 1 && steps < 100);
    FtB_Matrix_free(&A);
    A = rng_matrix(&r, FTB_FP32, 200, 200, 1, 0.2);
    for (int t = 0; t < 100; t++) /* whose own rows are the right ones */
        assert_ok(FtB_vxm(w, NULL, NULL, FTB_PLUS_TIMES, u, A, NULL));
    assert_false(ftb_pattern_transposed(A->pattern, false));
    FtB_Matrix_free(&A);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
}

/* ---- refusals and memory */

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 30, 20, 1, 0.2), W = rng_matrix(&r, FTB_FP32, 30, 20, 3, 0.2);
    FtB_Vector u = rng_vector(&r, FTB_FP32, 20, 0.5), v = rng_vector(&r, FTB_FP32, 30, 0.5), before;
    FtB_Block X;
    FtB_Semiring s, bound;
    assert_ok(FtB_Block_new(&X, 3, 1, FTB_FP32));
    assert_ok(FtB_Vector_dup(&before, v));
    const char *const sum = "plus : src * edge";
    assert_fails(GrB_DIMENSION_MISMATCH, "B has 30 places; expected 20, the columns of A",
                 FtB_mxv(v, NULL, NULL, sum, A, v, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 20 places; expected 30, the rows of B",
                 FtB_vxm(u, NULL, NULL, sum, u, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "C has 20 places; expected 30",
                 FtB_mxv(u, NULL, NULL, sum, A, u, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "C has 30 places; expected 20, the columns of B",
                 FtB_vxm(v, NULL, NULL, sum, v, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "M has 20 places; expected 30",
                 FtB_mxv(v, u, NULL, sum, A, u, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "B has 20 places; expected 30",
                 FtB_mxv(u, NULL, NULL, sum, A, u, FTB_DESC_T0));
    assert_fails(GrB_INVALID_VALUE, "C is an FtB_Matrix; expected an FtB_Vector",
                 FtB_mxv(A, NULL, NULL, sum, A, u, NULL));
    assert_fails(GrB_INVALID_VALUE, "M is an FtB_Block; expected an FtB_Vector or NULL",
                 FtB_mxv(v, X, NULL, sum, A, u, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Block; expected an FtB_Matrix",
                 FtB_mxv(v, NULL, NULL, sum, X, u, NULL));
    assert_fails(GrB_INVALID_VALUE, "B is an FtB_Vector; expected an FtB_Matrix",
                 FtB_mxv(v, NULL, NULL, sum, u, u, NULL));
    assert_fails(GrB_INVALID_VALUE, "C is an FtB_Vector", FtB_mxm(v, NULL, NULL, sum, A, A, FTB_DESC_T1));
    assert_fails(GrB_INVALID_VALUE, "B is an FtB_Vector", FtB_mxm_arg(A, A, NULL, "min : a", A, u, NULL));
    assert_fails(GrB_NULL_POINTER, "B is NULL", FtB_mxv(v, NULL, NULL, sum, A, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "C is NULL", FtB_mxv(NULL, NULL, NULL, sum, A, u, NULL));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'm'", FtB_mxv(v, NULL, NULL, "plus : src * m", A, u, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "mean", FtB_mxv(v, NULL, NULL, "mean : src", A, u, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "argmin", FtB_mxv(v, NULL, NULL, "argmin : a", A, u, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "gives 2 values",
                 FtB_mxv(v, NULL, NULL, "plus : [src, 1]", A, u, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "gives 3 values", FtB_mxv(v, NULL, NULL, sum, W, u, NULL));
    assert_fails(GrB_INVALID_VALUE, "accum", FtB_mxv(v, NULL, "x + z", sum, A, u, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "accum", FtB_mxv(v, NULL, "[x, y]", sum, A, u, NULL));
    assert_ok(FtB_Semiring_new(&s, "plus : norm[k] * src"));
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("norm", X)));
    assert_fails(GrB_DIMENSION_MISMATCH, "'norm[k]' has 3 rows", FtB_mxv(v, NULL, NULL, bound, A, u, NULL));
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&s);
    assert_same_vector(v, before);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&W);
    FtB_Vector_free(&u);
    FtB_Vector_free(&v);
    FtB_Vector_free(&before);
}

typedef struct failing {
    bool row;
    double density, of_mask;
    FtB_Descriptor desc;
} failing;

static GrB_Info call(void *arg)
{
    const failing *f = arg;
    rng r = {f->row ? 3 : 4};
    FtB_Matrix A = NULL;
    FtB_Vector u = NULL, w = NULL, m = NULL, before = NULL;
    int64_t I[120], J[120], at[30];
    float x[120];
    GrB_Info info;
    for (int e = 0; e < 120; e++) {
        I[e] = rng_below(&r, 30);
        J[e] = rng_below(&r, 30);
        x[e] = (float)e;
        at[e % 30] = e % 30;
    }
    const int64_t few = (int64_t)(30 * f->density), masked = (int64_t)(30 * f->of_mask);
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 30, 30, 1, 120, I, J, x, FTB_DUP_SUM, NULL));
    FTB_CHECK(FtB_Vector_build(&u, FTB_FP32, 30, few, at, x, FTB_DUP_ERROR));
    FTB_CHECK(FtB_Vector_build(&w, FTB_INT32, 30, 30, at, x, FTB_DUP_ERROR));
    FTB_CHECK(FtB_Vector_build(&m, FTB_FP32, 30, masked, at, x, FTB_DUP_ERROR));
    FTB_CHECK(FtB_Vector_dup(&before, w));
    if (f->row)
        info = FtB_vxm(w, m, "x + 2 * y", "plus : a * b", u, A, f->desc);
    else
        info = FtB_mxv(w, m, "x + 2 * y", "plus : a * b", A, u, f->desc);
    if (info != GrB_SUCCESS)
        assert_same_vector(w, before);
done:
    FtB_Matrix_free(&A);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
    FtB_Vector_free(&m);
    FtB_Vector_free(&before);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    const failing cases[] = {{false, 0.05, 0.5, NULL},        {true, 0.05, 0.05, FTB_DESC_R},
                             {false, 0.7, 0.1, FTB_DESC_RSC}, {true, 0.7, 0.5, FTB_DESC_T1},
                             {false, 1, 0.1, FTB_DESC_S},     {true, 1, 0.9, FTB_DESC_RC}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        fail_every_allocation(call, NULL, (void *)(uintptr_t)&cases[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans), cmocka_unit_test(transposes),
                                       cmocka_unit_test(refusals), cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
