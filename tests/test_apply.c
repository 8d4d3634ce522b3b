/* FtB_apply against the dense oracle. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_case.h"
#include "support/compare.h"
#include "support/fail_alloc.h"

typedef struct place {
    int64_t i, j, di, dj;
} place;

static ref_number twice(ref_number x, place p)
{
    return ref_add(ref_multiply(x, ref_integer(2)), ref_integer(p.i * 0));
}
static ref_number half(ref_number x, place p) { return ref_divide(x, ref_integer(2 + p.i * 0)); }
static ref_number where(ref_number x, place p) { return ref_add(x, ref_integer(100 * p.i - p.j)); }
static ref_number degrees(ref_number x, place p)
{
    return ref_add(ref_integer(p.di - 3 * p.dj), ref_integer(x.real * 0));
}
static ref_number positive(ref_number x, place p) { return ref_integer(ref_less(ref_integer(p.i * 0), x)); }
static ref_number bound(ref_number x, place p)
{
    return ref_add(ref_multiply(x, ref_integer(5)), ref_real((double)p.i / 2));
}

static const struct {
    const char *text;
    ref_number (*f)(ref_number x, place p);
} operators[] = {{"x * 2", twice},         {"x / 2", half},     {"x + 100 * i - j", where},
                 {"di - 3 * dj", degrees}, {"x > 0", positive}, {"x * scale + shift[i]", bound}};

static place place_of(const ref_matrix *A, int64_t i, int64_t j)
{
    place p = {i, j, 0, 0};
    for (int64_t t = 0; t < A->ncols; t++)
        p.di += *ref_at(A, i, t);
    for (int64_t t = 0; t < A->nrows; t++)
        p.dj += *ref_at(A, t, j);
    return p;
}

/* Whether the text has a value per value of the entry (or one per entry). */
static int64_t width_of(int which, int64_t width) { return which == 3 || width == 0 ? 1 : width; }

static ref_matrix *oracle(int which, const ref_matrix *A)
{
    ref_matrix *T = ref_new(A->type, A->nrows, A->ncols, width_of(which, A->width));
    for (int64_t i = 0; i < A->nrows; i++)
        for (int64_t j = 0; j < A->ncols; j++) {
            *ref_at(T, i, j) = *ref_at(A, i, j);
            for (int64_t f = 0; *ref_at(A, i, j) && f < T->width; f++)
                ref_value(T, i, j)[f] = operators[which].f(ref_value(A, i, j)[f], place_of(A, i, j));
        }
    return T;
}

/* An operator with a scalar and a block bound to it; shift[i] = i / 2. */
static FtB_Op bound_operator(int64_t nrows)
{
    FtB_Op op, result;
    FtB_Block shift;
    void *data;
    assert_ok(FtB_Block_new(&shift, nrows, 1, FTB_FP64));
    assert_ok(FtB_Block_shape(shift, NULL, NULL, NULL, NULL, &data));
    for (int64_t i = 0; i < nrows; i++)
        ((double *)data)[i] = (double)i / 2;
    assert_ok(FtB_Op_new(&op, operators[5].text));
    assert_ok(FtB_Op_bind(&result, op, FTB_BIND("scale", 5), FTB_BIND("shift", shift)));
    FtB_Op_free(&op);
    FtB_Block_free(&shift);
    return result;
}

static void random_case(rng *r)
{
    static const int64_t widths[] = {0, 1, 1, 3};
    int which = (int)rng_below(r, 6);
    int64_t nrows = ref_dimension(r), ncols = ref_dimension(r), width = widths[rng_below(r, 4)];
    ref_case c = ref_case_new(r, nrows, ncols, width_of(which, width), 1);
    bool turned = c.flags.transpose0, aliased = !turned && c.old->width == width && rng_below(r, 4) == 0;
    FtB_Matrix A = aliased ? c.C
                           : rng_matrix(r, rng_type(r), turned ? ncols : nrows, turned ? nrows : ncols, width,
                                        rng_unit(r));
    ref_matrix *dense = ref_read(A, turned), *T = oracle(which, dense);
    FtB_Arg accum = ref_op_arg(c.accum);
    FtB_Op op = which == 5 ? bound_operator(nrows) : NULL;
    if (op)
        assert_ok(FtB_apply(c.C, c.M, accum, op, A, c.flags.descriptor));
    else
        assert_ok(FtB_apply(c.C, c.M, accum, operators[which].text, A, c.flags.descriptor));
    ref_case_check(&c, T, 1e-12);
    FtB_Op_free(&op);
    if (!aliased)
        FtB_Matrix_free(&A);
    ref_free(dense);
    ref_case_free(&c);
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 800; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 5, 1, 0.6), C = rng_matrix(&r, FTB_FP32, 4, 5, 1, 0.6), before;
    FtB_Matrix M = rng_matrix(&r, FTB_BOOL, 4, 4, 1, 0.6), none = NULL;
    assert_ok(FtB_Matrix_dup(&before, C));
    assert_fails(GrB_NULL_POINTER, "C is NULL", FtB_apply(none, NULL, NULL, "x", A, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_apply(C, NULL, NULL, "x", none, NULL));
    assert_fails(GrB_NULL_POINTER, "op is NULL", FtB_apply(C, NULL, NULL, NULL, A, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is text", FtB_apply(C, NULL, NULL, "x", "A", NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "5 x 4 after its transpose",
                 FtB_apply(C, NULL, NULL, "x", A, FTB_DESC_T0));
    assert_fails(GrB_DIMENSION_MISMATCH, "mask is 4 x 4", FtB_apply(C, M, NULL, "x", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'b'", FtB_apply(C, NULL, NULL, "x + b", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "'y'", FtB_apply(C, NULL, NULL, "x + y", A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "width 1", FtB_apply(C, NULL, GrB_PLUS_FP32, "[x, x]", A, NULL));
    assert_same(C, before);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&before);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL, C = NULL, before = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2}, J[] = {1, 2, 0};
    const float x[] = {1, 2, 3};
    (void)arg;
    if ((info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 3, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_dup(&C, A)) == GrB_SUCCESS && (info = FtB_Matrix_dup(&before, A)) == GrB_SUCCESS &&
        (info = FtB_apply(C, A, "x + y", "x * di + dj", A, FTB_DESC_T0)) != GrB_SUCCESS)
        assert_same(C, before);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(call, NULL, NULL);
}

/* A context that was cancelled: nothing changes, and the next call runs. */
static void cancelled(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 6, 6, 1, 0.9), before;
    assert_ok(FtB_Matrix_dup(&before, A));
    assert_ok(FtB_Context_cancel(NULL));
    assert_fails(FTB_CANCELLED, "cancelled", FtB_apply(A, NULL, NULL, "x + 1", A, NULL));
    assert_same(A, before);
    assert_ok(FtB_apply(A, NULL, NULL, "x + 1", A, NULL));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_cases), cmocka_unit_test(refusals),
                                       cmocka_unit_test(failing_allocations), cmocka_unit_test(cancelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
