/* FtB_reduce and FtB_reduce_scalar against the dense oracle and GraphBLAS. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_case.h"
#include "support/compare.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>

static ref_number either(ref_number x, ref_number y) { return ref_integer(ref_true(x) || ref_true(y)); }
static ref_number both(ref_number x, ref_number y) { return ref_integer(ref_true(x) && ref_true(y)); }

static const struct {
    const char *name;
    ref_number (*f)(ref_number x, ref_number y);
    bool truth;
} monoids[] = {{"plus", ref_add, false},
               {"min", ref_least, false},
               {"max", ref_greatest, false},
               {"or", either, true},
               {"and", both, true}};

/* Row i of A reduced; false: the row is empty. */
static bool reduced(ref_number *total, int which, const ref_matrix *A, int64_t i)
{
    bool any = false;
    for (int64_t j = 0; j < A->ncols; j++) {
        if (!*ref_at(A, i, j))
            continue;
        for (int64_t f = 0; f < (A->width > 0 ? A->width : 1); f++) {
            ref_number x = ref_value(A, i, j)[f];
            if (monoids[which].truth)
                x = ref_integer(ref_true(x));
            total[f] = any ? monoids[which].f(total[f], x) : x;
        }
        any = true;
    }
    return any;
}

static ref_number block_at(FtB_Block X, int64_t at)
{
    if (ftb_type_float(X->type))
        return ref_real(ftb_get_real(block_values(X), X->type, at));
    int64_t x = ftb_get_integer(block_values(X), X->type, at);
    return (ref_number){false, X->type == FTB_UINT64 ? (__int128)(uint64_t)x : (__int128)x, 0};
}

typedef struct reduce_case {
    FtB_Matrix A;
    FtB_Block y, M, old;
    ref_matrix *dense;
    ref_flags flags;
    double fill;
    const ref_op *accum;
    int which;
} reduce_case;

/* What y(i, f) must be. */
static ref_number expected(const reduce_case *c, int64_t i, int64_t f, bool any, ref_number total)
{
    ref_number old = block_at(c->old, i * c->old->ld + f), fill = ref_real(c->fill);
    bool admitted =
        (!c->M || c->flags.structural || ref_true(block_at(c->M, i * c->M->ld))) != c->flags.complement;
    if (!admitted)
        return c->flags.replace ? fill : old;
    if (!any)
        return c->accum ? old : fill;
    return c->accum ? ref_op_apply(c->accum, old, total) : total;
}

static void check(const reduce_case *c)
{
    ref_number total[3];
    for (int64_t i = 0; i < c->y->nrows; i++) {
        bool any = reduced(total, c->which, c->dense, i);
        for (int64_t f = 0; f < c->y->ld; f++) {
            ref_number found = block_at(c->y, i * c->y->ld + f), goal = block_at(c->old, i * c->y->ld + f);
            if (f < c->y->ncols) /* the rest of a row is not ours */
                goal = ref_cast(expected(c, i, f, any, any ? total[f] : ref_integer(0)), c->y->type);
            if (ref_double(found) != ref_double(goal))
                fail_msg("%s of %s, y %s, row %lld, value %lld: %g, expected %g", monoids[c->which].name,
                         FtB_Type_name(c->dense->type), FtB_Type_name(c->y->type), (long long)i, (long long)f,
                         ref_double(found), ref_double(goal));
        }
    }
}

static void fill_block(rng *r, FtB_Block *X, FtB_Block *copy, FtB_Type type, int64_t nrows, int64_t ncols,
                       int64_t ld)
{
    size_t size = (size_t)(nrows * ld) * FtB_Type_size(type);
    FtB_Block whole;
    assert_ok(FtB_Block_new(&whole, nrows, ld, type));
    rng_values(r, block_values(whole), type, nrows * ld);
    *X = whole;
    if (copy) {
        assert_ok(FtB_Block_new(copy, nrows, ld, type));
        if (size > 0)
            memcpy(block_values((*copy)), block_values(whole), size);
        (*copy)->ncols = ncols;
    }
    (*X)->ncols = ncols;
}

static void random_case(rng *r)
{
    static const int64_t widths[] = {0, 1, 1, 3};
    reduce_case c = {.flags = ref_flags_of((int)rng_below(r, 16)), .which = (int)rng_below(r, 5)};
    int64_t nrows = ref_dimension(r), ncols = ref_dimension(r), width = widths[rng_below(r, 4)];
    int64_t values = width > 0 ? width : 1;
    FtB_Descriptor desc;
    assert_ok(FtB_Descriptor_new(&desc));
    assert_ok(FtB_Descriptor_set(desc, FTB_TRANSPOSE0, (int)c.flags.transpose0));
    assert_ok(FtB_Descriptor_set(desc, FTB_STRUCTURAL, (int)c.flags.structural));
    assert_ok(FtB_Descriptor_set(desc, FTB_COMPLEMENT, (int)c.flags.complement));
    assert_ok(FtB_Descriptor_set(desc, FTB_REPLACE, (int)c.flags.replace));
    c.fill = (double)rng_below(r, 3);
    assert_ok(FtB_Descriptor_set(desc, FTB_FILL, c.fill));
    c.A = rng_matrix(r, rng_type(r), nrows, ncols, width, rng_unit(r));
    c.dense = ref_read(c.A, c.flags.transpose0);
    fill_block(r, &c.y, &c.old, rng_type(r), c.dense->nrows, values, values + rng_below(r, 2));
    if (rng_below(r, 2))
        fill_block(r, &c.M, NULL, rng_type(r), c.dense->nrows, 1, 1 + rng_below(r, 2));
    if (rng_below(r, 2))
        c.accum = ref_op_of((int)rng_below(r, ref_ops()));
    FtB_Arg accum = ref_op_arg(c.accum);
    assert_ok(FtB_reduce(c.y, c.M, accum, monoids[c.which].name, c.A, desc));
    check(&c);
    FtB_Descriptor_free(&desc);
    FtB_Matrix_free(&c.A);
    FtB_Block_free(&c.y);
    FtB_Block_free(&c.old);
    FtB_Block_free(&c.M);
    ref_free(c.dense);
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 1000; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Each dtype with GraphBLAS's monoid of that dtype. */
static void scalars_as_graphblas(void **state)
{
    (void)state;
    const GrB_Monoid plus[] = {GrB_PLUS_MONOID_INT8,   GrB_PLUS_MONOID_INT16,  GrB_PLUS_MONOID_INT32,
                               GrB_PLUS_MONOID_INT64,  GrB_PLUS_MONOID_UINT8,  GrB_PLUS_MONOID_UINT16,
                               GrB_PLUS_MONOID_UINT32, GrB_PLUS_MONOID_UINT64, GrB_PLUS_MONOID_FP32,
                               GrB_PLUS_MONOID_FP64};
    const GrB_Monoid min[] = {GrB_MIN_MONOID_INT8,   GrB_MIN_MONOID_INT16,  GrB_MIN_MONOID_INT32,
                              GrB_MIN_MONOID_INT64,  GrB_MIN_MONOID_UINT8,  GrB_MIN_MONOID_UINT16,
                              GrB_MIN_MONOID_UINT32, GrB_MIN_MONOID_UINT64, GrB_MIN_MONOID_FP32,
                              GrB_MIN_MONOID_FP64};
    const GrB_Monoid max[] = {GrB_MAX_MONOID_INT8,   GrB_MAX_MONOID_INT16,  GrB_MAX_MONOID_INT32,
                              GrB_MAX_MONOID_INT64,  GrB_MAX_MONOID_UINT8,  GrB_MAX_MONOID_UINT16,
                              GrB_MAX_MONOID_UINT32, GrB_MAX_MONOID_UINT64, GrB_MAX_MONOID_FP32,
                              GrB_MAX_MONOID_FP64};
    const GrB_Monoid *const all[] = {plus, min, max};
    rng r = rng_new();
    for (int t = 0; t < 600; t++) {
        GrB_Monoid monoid = all[t % 3][t / 3 % 10];
        FtB_Matrix A =
            rng_matrix(&r, ref_grb_type(&r), ref_dimension(&r), ref_dimension(&r), 1, rng_unit(&r));
        GrB_Matrix G;
        double found, goal;
        assert_ok(FtB_Matrix_export(&G, A, 0));
        assert_int_equal(GrB_Matrix_reduce_FP64(&goal, NULL, monoid, G, NULL), GrB_SUCCESS);
        assert_ok(FtB_reduce_scalar(&found, FTB_FP64, monoid, A));
        assert_true(found == goal);
        GrB_Matrix_free(&G);
        FtB_Matrix_free(&A);
    }
}

/* Bits do not depend on the threads, also over many slices. */
static void scalars_of_many_entries(void **state)
{
    (void)state;
    rng r = rng_new();
    int64_t n = 300001, rowptr[] = {0, n};
    int32_t *columns = malloc(sizeof *columns * (size_t)n);
    double *values = malloc(sizeof *values * (size_t)n), sum = 0, totals[3];
    for (int64_t e = 0; e < n; e++) {
        columns[e] = (int32_t)e;
        values[e] = rng_unit(&r) - 0.5;
        sum += values[e];
    }
    FtB_Matrix A, P;
    int64_t count;
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP64, 1, n, 1, rowptr, columns, values));
    for (int t = 0; t < 3; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t));
        assert_ok(FtB_reduce_scalar(&totals[t], FTB_FP64, "plus", A));
        assert_true(totals[t] == totals[0] && fabs(totals[t] - sum) < 1e-9);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    assert_ok(FtB_Matrix_like(&P, A, 0, FTB_BOOL));
    assert_ok(FtB_reduce_scalar(&count, FTB_INT64, "plus", P));
    assert_int_equal(count, n);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&P);
    free(columns);
    free(values);
}

static void identities(void **state)
{
    (void)state;
    FtB_Matrix A, B;
    int64_t x;
    double y[2];
    assert_ok(FtB_Matrix_new(&A, FTB_INT8, 3, 3, 1));
    assert_ok(FtB_Matrix_new(&B, FTB_FP32, 0, 3, 2));
    assert_ok(FtB_reduce_scalar(&x, FTB_INT64, "min", A));
    assert_int_equal(x, 127);
    assert_ok(FtB_reduce_scalar(&x, FTB_INT64, "max", A));
    assert_int_equal(x, -128);
    assert_ok(FtB_reduce_scalar(&x, FTB_INT64, "times", A));
    assert_int_equal(x, 1);
    assert_ok(FtB_reduce_scalar(y, FTB_FP64, "min", B));
    assert_true(isinf(y[0]) && y[0] > 0 && y[1] == y[0]);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* y may be a view of A's own values. */
static void aliasing(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 1}, J[] = {0, 2, 1};
    const double x[] = {1, 2, 4};
    FtB_Matrix A;
    FtB_Block V;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 3, 3, 1, 3, I, J, x, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_values(&V, A));
    assert_ok(FtB_reduce(V, NULL, NULL, "plus", A, NULL));
    const double *y = matrix_values(A);
    assert_true(y[0] == 3 && y[1] == 4 && y[2] == 0);
    FtB_Matrix_free(&A);
    FtB_Block_free(&V);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 5, 2, 0.6);
    FtB_Block y, M, fixed;
    double values[8] = {0}, s[2] = {7, 7};
    assert_ok(FtB_Block_new(&y, 4, 2, FTB_FP64));
    assert_ok(FtB_Block_new(&M, 5, 1, FTB_BOOL));
    assert_ok(FtB_Block_wrap_const(&fixed, values, 4, 2, 2, FTB_FP64));
    assert_fails(GrB_DIMENSION_MISMATCH, "y is 4 x 2; expected 5 x 2",
                 FtB_reduce(y, NULL, NULL, "plus", A, FTB_DESC_T0));
    assert_fails(GrB_DIMENSION_MISMATCH, "M is 5 x 1; expected 4 x 1",
                 FtB_reduce(y, M, NULL, "plus", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "must not be written", FtB_reduce(fixed, NULL, NULL, "plus", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "minus", FtB_reduce(y, NULL, NULL, "minus", A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "accum: makes 1", FtB_reduce(y, NULL, "sum(x)", "plus", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "type is 99", FtB_reduce_scalar(s, (FtB_Type)99, "plus", A));
    assert_fails(GrB_NULL_POINTER, "s is NULL", FtB_reduce_scalar(NULL, FTB_FP64, "plus", A));
    assert_true(s[0] == 7);
    FtB_Matrix_free(&A);
    FtB_Block_free(&y);
    FtB_Block_free(&M);
    FtB_Block_free(&fixed);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL;
    FtB_Block y = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2}, J[] = {1, 2, 0};
    const float x[] = {1, 2, 3};
    double s = 7;
    (void)arg;
    if ((info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 3, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&y, 3, 1, FTB_FP32)) == GrB_SUCCESS) {
        ((float *)block_values(y))[0] = 5;
        info = FtB_reduce(y, NULL, "x + y", "plus", A, FTB_DESC_T0);
        assert_true(info == GrB_SUCCESS || ((float *)block_values(y))[0] == 5);
    }
    if (info == GrB_SUCCESS) {
        info = FtB_reduce_scalar(&s, FTB_FP64, "max", A);
        assert_true(s == (info == GrB_SUCCESS ? 3 : 7));
    }
    FtB_Matrix_free(&A);
    FtB_Block_free(&y);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(call, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),
        cmocka_unit_test(scalars_as_graphblas),
        cmocka_unit_test(scalars_of_many_entries),
        cmocka_unit_test(identities),
        cmocka_unit_test(aliasing),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
