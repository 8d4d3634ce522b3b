/* The write rule C<M> = accum(C, T) against the dense oracle and against GraphBLAS. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/mask.h"
#include "ops/ops.h"
#include "oracle/ref_case.h"
#include "support/compare.h"
#include "support/fail_alloc.h"

static GrB_Info write(const ref_case *c, FtB_Matrix T)
{
    ftb_flags flags = {
        .structural = c->flags.structural, .complement = c->flags.complement, .replace = c->flags.replace};
    FtB_Op accum = NULL;
    GrB_Info info = ftb_arg_op(&accum, ref_op_arg(c->accum), "accum", true);
    if (info == GrB_SUCCESS)
        info = ftb_write(c->C, c->M, &flags, accum, T);
    FtB_Op_free(&accum);
    return info;
}

static GrB_UnaryOp identity_of(FtB_Type type)
{
    const GrB_UnaryOp ops[] = {GrB_IDENTITY_BOOL,   GrB_IDENTITY_INT8,   GrB_IDENTITY_INT16,
                               GrB_IDENTITY_INT32,  GrB_IDENTITY_INT64,  GrB_IDENTITY_UINT8,
                               GrB_IDENTITY_UINT16, GrB_IDENTITY_UINT32, GrB_IDENTITY_UINT64,
                               GrB_IDENTITY_FP32,   GrB_IDENTITY_FP64};
    return ops[type - FTB_BOOL];
}

static void random_case(rng *r)
{
    static const int64_t widths[] = {0, 1, 1, 1, 3};
    int64_t nrows = ref_dimension(r), ncols = ref_dimension(r), width = widths[rng_below(r, 5)];
    ref_case c = ref_case_new(r, nrows, ncols, width, 0);
    FtB_Matrix T = rng_matrix(r, rng_type(r), nrows, ncols, width, rng_unit(r));
    ref_matrix *copy = ref_read(T, false);
    if (c.grb_C && copy->type <= FTB_FP64) {
        GrB_Matrix G;
        assert_ok(FtB_Matrix_export(&G, T, 0));
        assert_int_equal(GrB_Matrix_apply(c.grb_C, c.grb_M, c.accum ? c.accum->grb : NULL,
                                          identity_of(copy->type), G, c.flags.grb),
                         GrB_SUCCESS);
        assert_ok(write(&c, T));
        ref_case_check_grb(&c, 0);
        GrB_Matrix_free(&G);
    } else {
        assert_ok(write(&c, T));
    }
    ref_case_check(&c, copy, 0);
    ref_case_free(&c);
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 1500; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Without mask and accumulator, or where all of a masked result is T, arrays change hands. */
static void whole_result_is_adopted(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix M = rng_matrix(&r, FTB_BOOL, 9, 7, 0, 0.5), C, T;
    const ftb_flags replace = {.replace = true, .structural = true}, plain = {0};
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 9, 7, 2));
    assert_ok(FtB_Matrix_like(&T, M, 1, FTB_FP64));
    assert_ok(ftb_write(C, M, &replace, NULL, T));
    assert_ptr_equal(C->pattern, M->pattern);
    assert_int_equal(C->width, 1);
    assert_ok(FtB_Matrix_like(&T, M, 3, FTB_INT8));
    assert_ok(ftb_write(C, NULL, &plain, NULL, T));
    assert_ptr_equal(C->pattern, M->pattern);
    assert_int_equal(C->width, 3);
    assert_int_equal(C->type, FTB_FP64);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&C);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    const ftb_flags plain = {0}, replace = {.replace = true};
    FtB_Matrix C = rng_matrix(&r, FTB_FP32, 4, 5, 1, 0.6), T = rng_matrix(&r, FTB_FP32, 4, 5, 2, 0.6);
    FtB_Matrix M = rng_matrix(&r, FTB_FP32, 5, 4, 1, 0.6), wide = rng_matrix(&r, FTB_FP32, 4, 5, 3, 0.6);
    FtB_Matrix before;
    FtB_Op sum = NULL, plus = NULL;
    assert_ok(FtB_Matrix_dup(&before, C));
    assert_ok(ftb_arg_op(&plus, FTB_ARG("x + y"), "accum", true));
    assert_ok(ftb_arg_op(&sum, FTB_ARG("sum(x)"), "accum", true));
    assert_fails(GrB_DIMENSION_MISMATCH, "mask is 5 x 4", ftb_write(C, M, &plain, NULL, T));
    assert_fails(GrB_DOMAIN_MISMATCH, "width 3", ftb_write(C, wide, &replace, NULL, T));
    assert_fails(GrB_DIMENSION_MISMATCH, "width 1", ftb_write(C, NULL, &plain, plus, T));
    assert_fails(GrB_DIMENSION_MISMATCH, "width 1", ftb_write(C, C, &plain, NULL, T));
    assert_fails(GrB_DIMENSION_MISMATCH, "accum: makes 1", ftb_write(T, NULL, &plain, sum, T));
    assert_same(C, before);
    FtB_Op_free(&plus);
    FtB_Op_free(&sum);
    FtB_Matrix_free(&before);
    FtB_Matrix_free(&wide);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&T);
    FtB_Matrix_free(&C);
}

static void mask_entries(void **state)
{
    (void)state;
    const double values[] = {0, -0.0, 1, -1e-300, 0.0 / 0.0};
    const int64_t I[] = {0, 0, 0, 0, 0}, J[] = {0, 1, 2, 3, 4};
    FtB_Matrix M, P;
    assert_ok(FtB_Matrix_build(&M, FTB_FP64, 1, 5, 1, 5, I, J, values, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_like(&P, M, 0, FTB_BOOL));
    const ftb_mask valued = ftb_mask_of(M, false), structural = ftb_mask_of(M, true);
    const ftb_mask pattern = ftb_mask_of(P, false);
    for (int64_t e = 0; e < 5; e++) {
        assert_int_equal(ftb_mask_admits(&valued, e), e >= 2);
        assert_true(ftb_mask_admits(&structural, e));
        assert_true(ftb_mask_admits(&pattern, e));
    }
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&P);
}

/* Columns beyond 32 bits. */
static void wide_columns(void **state)
{
    (void)state;
    const int64_t far = INT64_C(1) << 40, I[] = {0, 0, 1}, J[] = {5, far, far}, K[] = {6, far, 0};
    const double x[] = {1, 2, 3}, y[] = {10, 20, 30};
    const ftb_flags plain = {0};
    FtB_Matrix C, T;
    FtB_Op plus = NULL;
    assert_ok(FtB_Matrix_build(&C, FTB_FP64, 2, far + 1, 1, 3, I, J, x, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_build(&T, FTB_FP64, 2, far + 1, 1, 3, I, K, y, FTB_DUP_ERROR, NULL));
    assert_ok(ftb_arg_op(&plus, FTB_ARG("x + y"), "accum", true));
    assert_ok(ftb_write(C, NULL, &plain, plus, T));
    assert_int_equal(C->pattern->nvals, 5);
    assert_true(value_at(C, 0, far, 0, -1) == 22);
    assert_true(value_at(C, 1, far, 0, -1) == 3);
    assert_true(value_at(C, 1, 0, 0, -1) == 30);
    FtB_Op_free(&plus);
    FtB_Matrix_free(&C);
}

/* ---- failing allocations */

typedef struct inputs {
    FtB_Matrix C, M, T, before;
} inputs;

static GrB_Info masked_write(void *arg)
{
    inputs *in = arg;
    const ftb_flags plain = {0};
    FtB_Matrix C = NULL, T = NULL;
    FtB_Op plus = NULL;
    GrB_Info info = FtB_Matrix_dup(&C, in->C);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_dup(&T, in->T);
    if (info == GrB_SUCCESS)
        info = ftb_arg_op(&plus, FTB_ARG("x + y"), "accum", true);
    if (info == GrB_SUCCESS) {
        info = ftb_write(C, in->M, &plain, plus, T);
        if (info == GrB_SUCCESS)
            T = NULL;
        else
            assert_same(C, in->before);
    }
    FtB_Op_free(&plus);
    FtB_Matrix_free(&T);
    FtB_Matrix_free(&C);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    inputs in = {rng_matrix(&r, FTB_INT16, 8, 9, 2, 0.5), rng_matrix(&r, FTB_FP32, 8, 9, 1, 0.5),
                 rng_matrix(&r, FTB_FP32, 8, 9, 2, 0.5), NULL};
    assert_ok(FtB_Matrix_dup(&in.before, in.C));
    fail_every_allocation(masked_write, NULL, &in);
    FtB_Matrix_free(&in.C);
    FtB_Matrix_free(&in.M);
    FtB_Matrix_free(&in.T);
    FtB_Matrix_free(&in.before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases), cmocka_unit_test(whole_result_is_adopted),
        cmocka_unit_test(refusals),     cmocka_unit_test(mask_entries),
        cmocka_unit_test(wide_columns), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
