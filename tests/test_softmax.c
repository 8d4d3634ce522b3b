/* FtB_softmax and its gradient against a loop in double precision, for any width, dtype and side; large
 * scores, infinities, NaN and empty rows; the gradient against finite differences; the same bits everywhere.
 */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define CASES rng_cases(400)

static double tolerance_of(FtB_Type type)
{
    return type == FTB_FP64 ? 1e-13 : type == FTB_FP32 ? 2e-6 : type == FTB_FP16 ? 2e-3 : 1e-2;
}

static double value(FtB_Matrix A, int64_t e, int64_t f)
{
    int64_t at = e * A->width + f;
    return ftb_type_float(A->type) ? ftb_get_real(matrix_values(A), A->type, at)
                                   : (double)ftb_get_integer(matrix_values(A), A->type, at);
}

static int64_t group_of(const ftb_pattern *p, int64_t i, int64_t e, FtB_By by)
{
    return by == FTB_BY_ROW ? i : ftb_col(p, e);
}

/* The largest, and then the sum over each row or column, of (d ? s d : exp(s - largest)). */
static double *sums(FtB_Matrix A, FtB_Matrix D, FtB_By by, double *most)
{
    const ftb_pattern *p = all_rows_of(A);
    int64_t n = ftb_max(p->nrows, p->ncols), w = A->width;
    double *sum = calloc((size_t)(n * w + 1), sizeof *sum);
    for (int64_t t = 0; t < n * w; t++)
        most[t] = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < p->nrows; i++)
            for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
                for (int64_t f = 0; f < w; f++) {
                    int64_t at = group_of(p, i, e, by) * w + f;
                    if (pass == 0)
                        most[at] = fmax(most[at], value(A, e, f));
                    else
                        sum[at] += D ? value(A, e, f) * value(D, e, f)
                                     : exp(value(A, e, f) - (most[at] == -INFINITY ? 0 : most[at]));
                }
    return sum;
}

static void check(FtB_Matrix S, FtB_Matrix A, FtB_Matrix D, FtB_By by, double tolerance)
{
    const ftb_pattern *p = all_rows_of(A);
    double *most = malloc(sizeof *most * (size_t)(ftb_max(p->nrows, p->ncols) * A->width + 1));
    double *sum = sums(A, D, by, most);
    assert_ptr_equal(S->pattern, p);
    assert_int_equal(S->width, A->width);
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            for (int64_t f = 0; f < A->width; f++) {
                int64_t at = group_of(p, i, e, by) * A->width + f;
                double shift = most[at] == -INFINITY ? 0 : most[at], goal, found = value(S, e, f);
                if (D)
                    goal = value(A, e, f) * (value(D, e, f) - sum[at]);
                else
                    goal = sum[at] == 0 ? 0 : exp(value(A, e, f) - shift) / sum[at];
                if (goal != found && !(fabs(goal - found) <= tolerance * fmax(1, fabs(goal))) &&
                    !(isnan(goal) && isnan(found)))
                    fail_msg("entry %lld, value %lld: %.17g, expected %.17g", (long long)e, (long long)f,
                             found, goal);
            }
    free(most);
    free(sum);
}

/* Scores, also large ones; now and then no numbers. */
static void fill_scores(rng *r, FtB_Matrix A)
{
    double scale = rng_below(r, 4) == 0 ? 1000 : 3;
    bool odd = rng_below(r, 4) == 0;
    for (int64_t t = 0; t < A->pattern->nvals * A->width; t++) {
        double x = scale * (rng_unit(r) - 0.5);
        if (odd && rng_below(r, 6) == 0)
            x = rng_below(r, 4) ? -INFINITY : NAN;
        ftb_cast((char *)matrix_values(A) + (size_t)t * FtB_Type_size(A->type), A->type, &x, FTB_FP64, 1);
    }
}

static void random_cases(void **state)
{
    (void)state;
    static const int64_t widths[] = {1, 1, 2, 3, 4, 5, 8, 8, 16, 17, 33, 40};
    static const FtB_Type types[] = {FTB_FP32, FTB_FP32, FTB_FP64, FTB_BF16, FTB_FP16};
    rng r = rng_new();
    for (int t = 0; t < CASES; t++) {
        int64_t nrows = rng_below(&r, 30), ncols = rng_below(&r, 60), width = widths[rng_below(&r, 12)];
        FtB_By by = rng_below(&r, 2) ? FTB_BY_ROW : FTB_BY_COLUMN;
        FtB_Matrix A = rng_matrix(&r, rng_below(&r, 6) ? types[rng_below(&r, 5)] : FTB_INT32, nrows, ncols,
                                  width, rng_unit(&r)),
                   S, D, G;
        ftb_isa_force((int)rng_below(&r, 4) - 1);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        if (ftb_type_float(A->type))
            fill_scores(&r, A);
        FtB_Type type = types[rng_below(&r, 5)];
        assert_ok(FtB_Matrix_new(&S, type, nrows, ncols, 1));
        assert_ok(FtB_softmax(S, A, by));
        check(S, A, NULL, by, tolerance_of(type));
        assert_ok(FtB_Matrix_like(&D, A, width, FTB_FP32));
        fill_scores(&r, D);
        assert_ok(FtB_Matrix_new(&G, FTB_FP64, nrows, ncols, 1));
        assert_ok(FtB_softmax_grad(G, S, D, by));
        check(G, S, D, by, 1e-13);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&S);
        FtB_Matrix_free(&D);
        FtB_Matrix_free(&G);
    }
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* In place, into values that are shared with a view; and the same bits in every way. */
static void in_place_and_bits(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int64_t width = 1; width < 20; width += 1 + width / 3)
        for (FtB_Type type = FTB_FP32; type <= FTB_FP64; type++)
            for (int by = 0; by < 2; by++) {
                FtB_Matrix A = rng_matrix(&r, type, 40, 70, width, 0.4), first = NULL, S;
                FtB_Block V;
                fill_scores(&r, A);
                for (int t = 0; t < 9; t++) {
                    ftb_isa_force(t / 3);
                    assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
                    assert_ok(FtB_Matrix_new(&S, type, 40, 70, 1));
                    assert_ok(FtB_softmax(S, A, (FtB_By)by));
                    if (first)
                        assert_memory_equal(matrix_values(S), matrix_values(first),
                                            (size_t)(S->pattern->nvals * width) * FtB_Type_size(type));
                    else
                        assert_ok(FtB_Matrix_dup(&first, S));
                    FtB_Matrix_free(&S);
                }
                assert_ok(FtB_Matrix_values(&V, A));
                assert_ok(FtB_softmax(A, A, (FtB_By)by));
                assert_memory_equal(matrix_values(A), matrix_values(first),
                                    (size_t)(A->pattern->nvals * width) * FtB_Type_size(type));
                assert_ptr_equal(matrix_values(A), block_values(V));
                FtB_Block_free(&V);
                FtB_Matrix_free(&A);
                FtB_Matrix_free(&first);
            }
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* d/dA of sum(w softmax(A)) by central differences. */
static void finite_differences(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 6, 8, 3, 0.5), S, W, G;
    assert_ok(FtB_Matrix_like(&S, A, 3, FTB_FP64));
    assert_ok(FtB_Matrix_like(&W, A, 3, FTB_FP64));
    assert_ok(FtB_Matrix_like(&G, A, 3, FTB_FP64));
    int64_t count = A->pattern->nvals * 3;
    double *a = matrix_values(A), *w = matrix_values(W), *s = matrix_values(S), *g = matrix_values(G);
    for (int64_t t = 0; t < count; t++) {
        a[t] = rng_unit(&r);
        w[t] = rng_unit(&r);
    }
    for (int by = 0; by < 2; by++) {
        assert_ok(FtB_softmax(S, A, (FtB_By)by));
        assert_ok(FtB_softmax_grad(G, S, W, (FtB_By)by));
        double analytic[200];
        assert_true(count < 200);
        memcpy(analytic, g, sizeof *g * (size_t)count);
        for (int64_t t = 0; t < count; t++) {
            double old = a[t], loss[2] = {0, 0};
            for (int side = 0; side < 2; side++) {
                a[t] = old + (side ? 1e-5 : -1e-5);
                assert_ok(FtB_Matrix_changed(A));
                assert_ok(FtB_softmax(S, A, (FtB_By)by));
                for (int64_t u = 0; u < count; u++)
                    loss[side] += w[u] * s[u];
            }
            a[t] = old;
            assert_ok(FtB_Matrix_changed(A));
            assert_true(fabs((loss[1] - loss[0]) / 2e-5 - analytic[t]) < 1e-8);
        }
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&G);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 4, 6, 1, 0.9), P = rng_matrix(&r, FTB_FP32, 4, 6, 0, 0.5), I, W;
    assert_ok(FtB_Matrix_new(&I, FTB_INT32, 4, 6, 1));
    assert_ok(FtB_Matrix_like(&W, A, 2, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "A: width 0", FtB_softmax(A, P, FTB_BY_ROW));
    assert_fails(GrB_DOMAIN_MISMATCH, "S: dtype int32", FtB_softmax(I, A, FTB_BY_ROW));
    assert_fails(GrB_INVALID_VALUE, "by: 7", FtB_softmax(A, A, (FtB_By)7));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_softmax(A, NULL, FTB_BY_ROW));
    assert_fails(GrB_DIMENSION_MISMATCH, "dS", FtB_softmax_grad(A, A, W, FTB_BY_ROW));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&P);
    FtB_Matrix_free(&I);
    FtB_Matrix_free(&W);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL, S = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 1};
    const double x[] = {1, 2, 3, 4};
    if ((info = FtB_Matrix_build(&A, FTB_FP64, 3, 3, 1, 4, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_new(&S, FTB_BF16, 3, 3, 1)) == GrB_SUCCESS &&
        (info = FtB_softmax(S, A, *(FtB_By *)arg)) != GrB_SUCCESS)
        assert_int_equal(S->pattern->nvals, 0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    for (FtB_By by = FTB_BY_ROW; by <= FTB_BY_COLUMN; by++)
        fail_every_allocation(call, NULL, &by);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),        cmocka_unit_test(in_place_and_bits),
        cmocka_unit_test(finite_differences),  cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
