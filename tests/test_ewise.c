/* FtB_eWiseAdd and FtB_eWiseMult against the dense oracle and GraphBLAS. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_case.h"
#include "support/compare.h"
#include "support/fail_alloc.h"

static int64_t widest(int64_t a, int64_t b)
{
    int64_t width = a > b ? a : b;
    return width > 0 ? width : 1;
}

static ref_number value(const ref_matrix *A, int64_t i, int64_t j, int64_t f)
{
    return ref_value(A, i, j)[A->width > 1 ? f : 0];
}

/* Lone entries are cast to the dtype that op gives: known here for GraphBLAS's operators, and without
 * consequence for the others' small values, but for realness. */
static ref_number lone(const ref_op *op, ref_number x, const ref_matrix *other)
{
    bool compares = op->grb == GrB_LT_INT64;
    if (op->domain)
        return ref_cast(x, compares ? FTB_BOOL : op->domain);
    return (other->width > 0 && ftb_type_float(other->type)) || strchr(op->text, '/')
               ? ref_real(ref_double(x))
               : x;
}

static ref_matrix *oracle(const ref_op *op, const ref_matrix *A, const ref_matrix *B, bool add)
{
    ref_matrix *T = ref_new(A->type, A->nrows, A->ncols, widest(A->width, B->width));
    for (int64_t i = 0; i < A->nrows; i++)
        for (int64_t j = 0; j < A->ncols; j++) {
            bool a = *ref_at(A, i, j), b = *ref_at(B, i, j);
            *ref_at(T, i, j) = add ? a || b : a && b;
            for (int64_t f = 0; f < T->width; f++)
                ref_value(T, i, j)[f] = a && b ? ref_op_apply(op, value(A, i, j, f), value(B, i, j, f))
                                        : a    ? lone(op, value(A, i, j, f), B)
                                               : lone(op, value(B, i, j, f), A);
        }
    return T;
}

static void check_grb(ref_case *c, const ref_op *op, FtB_Matrix A, FtB_Matrix B, bool add)
{
    GrB_Matrix G, H;
    GrB_BinaryOp accum = c->accum ? c->accum->grb : NULL;
    assert_ok(FtB_Matrix_export(&G, A, 0));
    assert_ok(FtB_Matrix_export(&H, B, 0));
    GrB_Info info =
        add ? GrB_Matrix_eWiseAdd_BinaryOp(c->grb_C, c->grb_M, accum, op->grb, G, H, c->flags.grb)
            : GrB_Matrix_eWiseMult_BinaryOp(c->grb_C, c->grb_M, accum, op->grb, G, H, c->flags.grb);
    assert_int_equal(info, GrB_SUCCESS);
    ref_case_check_grb(c, 1e-12);
    GrB_Matrix_free(&G);
    GrB_Matrix_free(&H);
}

static FtB_Matrix operand(rng *r, const ref_case *c, bool turned, int64_t width)
{
    int64_t nrows = c->old->nrows, ncols = c->old->ncols;
    if (!turned && c->old->width == width && rng_below(r, 4) == 0)
        return c->C;
    return rng_matrix(r, rng_type(r), turned ? ncols : nrows, turned ? nrows : ncols, width, rng_unit(r));
}

static void random_case(rng *r)
{
    static const int64_t widths[][2] = {{1, 1}, {1, 1}, {1, 1}, {3, 3}, {0, 0}, {0, 1}, {1, 3}, {3, 0}};
    const ref_op *op = ref_op_of((int)rng_below(r, ref_ops()));
    bool add = rng_below(r, 2), one_sided = op->grb == GrB_FIRST_INT8 || op->grb == GrB_SECOND_FP32;
    const int64_t *width = widths[rng_below(r, one_sided ? 4 : 8)]; /* one side alone would give its width */
    ref_case c = ref_case_new(r, ref_dimension(r), ref_dimension(r), widest(width[0], width[1]), 2);
    FtB_Matrix A = operand(r, &c, c.flags.transpose0, width[0]),
               B = operand(r, &c, c.flags.transpose1, width[1]);
    ref_matrix *a = ref_read(A, c.flags.transpose0), *b = ref_read(B, c.flags.transpose1);
    bool grb =
        c.grb_C && op->grb && a->type <= FTB_FP64 && b->type <= FTB_FP64 && a->width <= 1 && b->width <= 1;
    FtB_Matrix left = A, right = B; /* what GraphBLAS is given: copies of C where C is an input */
    if (A == c.C)
        assert_ok(FtB_Matrix_dup(&left, A));
    if (B == c.C)
        assert_ok(FtB_Matrix_dup(&right, B));
    FtB_Arg accum = ref_op_arg(c.accum), text = ref_op_arg(op);
    if (add)
        assert_ok(FtB_eWiseAdd(c.C, c.M, accum, text, A, B, c.flags.descriptor));
    else
        assert_ok(FtB_eWiseMult(c.C, c.M, accum, text, A, B, c.flags.descriptor));
    ref_case_check(&c, oracle(op, a, b, add), 1e-12);
    if (grb)
        check_grb(&c, op, left, right, add);
    FtB_Matrix_free(&left);
    FtB_Matrix_free(&right);
    ref_free(a);
    ref_free(b);
    ref_case_free(&c);
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 1200; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    const int64_t I[] = {0, 0}, J[] = {1, 1};
    const float x[] = {1, 2};
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 5, 1, 0.6), W = rng_matrix(&r, FTB_FP32, 4, 5, 2, 0.6), before,
               K;
    FtB_Matrix B = rng_matrix(&r, FTB_FP32, 4, 4, 1, 0.6);
    assert_ok(FtB_Matrix_dup(&before, A));
    assert_ok(FtB_Matrix_build(&K, FTB_FP32, 4, 5, 1, 2, I, J, x, FTB_DUP_KEEP, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "B is 4 x 4", FtB_eWiseAdd(A, NULL, NULL, "x + y", A, B, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 5 x 4",
                 FtB_eWiseAdd(A, NULL, NULL, "x + y", A, A, FTB_DESC_T0));
    assert_fails(GrB_NULL_POINTER, "op is NULL", FtB_eWiseMult(A, NULL, NULL, NULL, A, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "alone", FtB_eWiseAdd(A, NULL, NULL, "sum(x) + sum(y)", W, W, NULL));
    assert_fails(GrB_INVALID_VALUE, "parallel edges", FtB_eWiseMult(A, NULL, NULL, "x + y", K, A, NULL));
    assert_same(A, before);
    assert_ok(FtB_eWiseMult(A, NULL, NULL, "sum(x) + sum(y)", W, W, NULL));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&K);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&before);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL, B = NULL, before = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2}, J[] = {1, 2, 0};
    const float x[] = {1, 2, 3};
    (void)arg;
    if ((info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 3, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_build(&B, FTB_INT8, 3, 3, 1, 2, J, I, "ab", FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_dup(&before, A)) == GrB_SUCCESS &&
        (info = FtB_eWiseAdd(A, B, "x + y", "x * y", A, B, FTB_DESC_CT1)) != GrB_SUCCESS)
        assert_same(A, before);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&before);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(call, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_cases), cmocka_unit_test(refusals),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
