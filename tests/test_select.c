/* FtB_select and FtB_select_topk against the dense oracle. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "oracle/ref_case.h"
#include "support/compare.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>

static bool is_positive(const ref_number *x, int64_t i, int64_t j)
{
    (void)i, (void)j;
    return ref_less(ref_integer(0), *x);
}
static bool is_lower(const ref_number *x, int64_t i, int64_t j)
{
    (void)x;
    return j < i;
}
static bool is_other(const ref_number *x, int64_t i, int64_t j)
{
    (void)x;
    return i - j != 0;
}

static const struct {
    const char *text;
    bool (*keeps)(const ref_number *x, int64_t i, int64_t j);
    bool scalars;
} selectors[] = {{"x > 0", is_positive, true}, {"j < i", is_lower, false}, {"i - j", is_other, false}};

static ref_matrix *selected(int which, const ref_matrix *A)
{
    ref_matrix *T = ref_new(A->type, A->nrows, A->ncols, A->width);
    for (int64_t i = 0; i < A->nrows; i++)
        for (int64_t j = 0; j < A->ncols; j++) {
            *ref_at(T, i, j) = *ref_at(A, i, j) && selectors[which].keeps(ref_value(A, i, j), i, j);
            for (int64_t f = 0; f < (A->width > 0 ? A->width : 1); f++)
                ref_value(T, i, j)[f] = ref_value(A, i, j)[f];
        }
    return T;
}

/* Picks the best entry that was not picked, k times. */
static ref_matrix *top(int64_t k, const ref_matrix *A)
{
    ref_matrix *T = ref_new(A->type, A->nrows, A->ncols, A->width);
    for (int64_t i = 0; i < A->nrows; i++)
        for (int64_t t = 0; t < k; t++) {
            int64_t best = -1;
            for (int64_t j = 0; j < A->ncols; j++) {
                bool number = !isnan(ref_double(*ref_value(A, i, j)));
                if (*ref_at(A, i, j) && !*ref_at(T, i, j) && number &&
                    (best < 0 || ref_less(*ref_value(A, i, best), *ref_value(A, i, j))))
                    best = j;
            }
            if (best < 0)
                break;
            *ref_at(T, i, best) = true;
            *ref_value(T, i, best) = *ref_value(A, i, best);
        }
    return T;
}

static void random_case(rng *r)
{
    static const int64_t widths[] = {0, 1, 1, 3};
    int which = (int)rng_below(r, 3);
    bool topk = rng_below(r, 2);
    int64_t nrows = ref_dimension(r), ncols = ref_dimension(r);
    int64_t width = widths[rng_below(r, topk || selectors[which].scalars ? 3 : 4)], k = rng_below(r, 9);
    ref_case c = ref_case_new(r, nrows, ncols, width, 1);
    bool turned = c.flags.transpose0, aliased = !turned && rng_below(r, 4) == 0;
    FtB_Matrix A = aliased ? c.C
                           : rng_matrix(r, rng_type(r), turned ? ncols : nrows, turned ? nrows : ncols, width,
                                        rng_unit(r));
    ref_matrix *dense = ref_read(A, turned), *T = topk ? top(k, dense) : selected(which, dense);
    FtB_Arg accum = ref_op_arg(c.accum);
    if (topk)
        assert_ok(FtB_select_topk(c.C, c.M, accum, k, A, c.flags.descriptor));
    else
        assert_ok(FtB_select(c.C, c.M, accum, selectors[which].text, A, c.flags.descriptor));
    ref_case_check(&c, T, 1e-12);
    if (!aliased)
        FtB_Matrix_free(&A);
    ref_free(dense);
    ref_case_free(&c);
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

/* Any bits: infinities, NaN, both zeros, the ends of the integers; rows longer than a batch. */
static void topk_of_any_values(void **state)
{
    (void)state;
    rng r = rng_new();
    int64_t n = 2500, rowptr[] = {0, 7, 7, n};
    int32_t *columns = malloc(sizeof *columns * (size_t)n);
    void *values = malloc(8 * (size_t)n);
    for (int64_t e = 0; e < n; e++)
        columns[e] = (int32_t)(e < 7 ? 3 * e : e);
    for (FtB_Type type = FTB_BOOL; type <= FTB_BF16; type++)
        for (int64_t k = 0; k < 3000; k = 3 * k + 1) {
            FtB_Matrix A, C;
            rng_any_values(&r, values, type, n);
            assert_ok(FtB_Matrix_wrap_csr(&A, type, 3, n, 1, rowptr, columns, values));
            assert_ok(FtB_Matrix_new(&C, type, 3, n, 1));
            assert_ok(FtB_select_topk(C, NULL, NULL, k, A, NULL));
            if (k <= 40) { /* the oracle takes n k steps */
                ref_matrix *dense = ref_read(A, false), *T = top(k, dense);
                ref_check(C, T, 0, FtB_Type_name(type));
                ref_free(T);
                ref_free(dense);
            }
            FtB_Matrix_free(&A);
            FtB_Matrix_free(&C);
        }
    free(columns);
    free(values);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 5, 1, 0.6), W = rng_matrix(&r, FTB_FP32, 4, 5, 2, 0.6), before;
    assert_ok(FtB_Matrix_dup(&before, A));
    assert_fails(GrB_INVALID_VALUE, "k is -1", FtB_select_topk(A, NULL, NULL, -1, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "width 2", FtB_select_topk(A, NULL, NULL, 1, W, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "2 values", FtB_select(A, NULL, NULL, "x > 0", W, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "5 x 4", FtB_select(A, NULL, NULL, "x", A, FTB_DESC_T0));
    assert_same(A, before);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&before);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL, C = NULL, before = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 0, 2}, J[] = {0, 1, 2, 0};
    const float x[] = {1, 2, 3, 4};
    bool topk = *(bool *)arg;
    if ((info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 4, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_dup(&C, A)) == GrB_SUCCESS && (info = FtB_Matrix_dup(&before, A)) == GrB_SUCCESS) {
        info = topk ? FtB_select_topk(C, A, "x + y", 2, A, FTB_DESC_C)
                    : FtB_select(C, A, "x + y", "x > di", A, FTB_DESC_CT0);
        if (info != GrB_SUCCESS)
            assert_same(C, before);
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&before);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    bool topk = false;
    fail_every_allocation(call, NULL, &topk);
    topk = true;
    fail_every_allocation(call, NULL, &topk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_cases), cmocka_unit_test(topk_of_any_values),
                                       cmocka_unit_test(refusals), cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
