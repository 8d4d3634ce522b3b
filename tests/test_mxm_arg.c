/* FtB_mxm_arg of two sparse matrices: C and the winning k against plain loops, for every dtype of both
 * operands and every way to accumulate. Values are eighths in (-1, 1), so that products are exact and tie
 * often, with infinities, NaN and -0 among them.
 * Labels: property */
#include "support/check.h"

#include "core/core.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

/* ---- operands */

static double special_value(rng *r)
{
    static const double special[] = {0, -0.0, HUGE_VAL, -HUGE_VAL, NAN};
    return special[rng_below(r, 5)];
}

static FtB_Matrix operand(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, double density, bool specials)
{
    FtB_Matrix A = rng_matrix(r, type, nrows, ncols, 1, density);
    size_t size = FtB_Type_size(type);
    for (int64_t e = 0; e < A->pattern->nvals && ftb_type_float(type); e++) {
        double x = specials && rng_below(r, 3) == 0 ? special_value(r) : (double)(rng_below(r, 15) - 7) / 8;
        ftb_cast((char *)matrix_values(A) + (size_t)e * size, type, &x, FTB_FP64, 1);
    }
    return A;
}

/* ---- the oracle */

typedef struct reducer {
    const char *text;
    bool least;
    int message; /* 0: a * b, 1: a + b, 2: b */
} reducer;

static const reducer reducers[] = {
    {"min : a * b", true, 0},     {"max : a * b", false, 0}, {"argmin : a * b", true, 0},
    {"argmax : a + b", false, 1}, {"min : a + b", true, 1},  {"max : b", false, 2},
};
#define REDUCERS ((int)(sizeof reducers / sizeof *reducers))

/* NaN loses to every number, and -0 is less than 0. */
static bool beats(double x, double y, bool least)
{
    if (isnan(x) || isnan(y))
        return isnan(y) && !isnan(x);
    if (x == 0 && y == 0)
        return least ? signbit(x) && !signbit(y) : signbit(y) && !signbit(x);
    return least ? x < y : x > y;
}

/* Row i of A times column j of B: the winning k, or -1; *best its message. */
static int64_t winner(FtB_Matrix A, FtB_Matrix B, const reducer *s, int64_t i, int64_t j, double *best)
{
    static const double absent = 1e300;
    int64_t won = -1;
    for (int64_t k = 0; k < A->pattern->ncols; k++) {
        double a = value_at(A, i, k, 0, absent), b = value_at(B, k, j, 0, absent);
        if (a == absent || b == absent)
            continue;
        double z = s->message == 0 ? a * b : s->message == 1 ? a + b : b;
        if (!ftb_type_float(A->type) && !ftb_type_float(B->type))
            z += 0.0; /* whole numbers have no -0 */
        if (won < 0 || beats(z, *best, s->least)) {
            won = k;
            *best = z;
        }
    }
    return won;
}

static void check(FtB_Matrix C, FtB_Matrix E, FtB_Matrix A, FtB_Matrix B, const reducer *s, FtB_Matrix M,
                  bool complement)
{
    assert_valid(C, false);
    assert_valid(E, false);
    assert_int_equal(C->pattern->nvals, E->pattern->nvals);
    for (int64_t i = 0; i < C->pattern->nrows; i++)
        for (int64_t j = 0; j < C->pattern->ncols; j++) {
            double best = 0, got = value_at(C, i, j, 0, 1e300);
            int64_t k = winner(A, B, s, i, j, &best);
            if (M && (value_at(M, i, j, 0, 1e300) < 1e299) == complement)
                k = -1;
            if (k < 0) {
                assert_true(got > 1e299 && value_at(E, i, j, 0, -1) < 0);
                continue;
            }
            bool same = (isnan(got) && isnan(best)) ||
                        (got == best && (FTB_FP32 > C->type || signbit(got) == signbit(best)));
            if (!same || value_at(E, i, j, 0, -1) != (double)k)
                fail_msg("%s, A %s, B %s, (%d, %d): %g from k = %g; expected %g from %d", s->text,
                         FtB_Type_name(A->type), FtB_Type_name(B->type), (int)i, (int)j, got,
                         value_at(E, i, j, 0, -1), best, (int)k);
        }
}

/* ---- cases */

/* FtB_mxm of the same gives the same C. */
static void run_case(FtB_Matrix A, FtB_Matrix B, const reducer *s, FtB_Matrix M, bool complement,
                     const char *accumulator)
{
    int64_t nrows = A->pattern->nrows, ncols = B->pattern->ncols;
    FtB_Matrix C, E, D;
    FtB_Descriptor desc;
    FtB_Plan plan = NULL;
    assert_ok(FtB_Descriptor_new(&desc));
    assert_ok(FtB_Descriptor_set(desc, FTB_COMPLEMENT, complement));
    assert_ok(FtB_Descriptor_set(desc, FTB_REPLACE, true));
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, nrows, ncols, 1));
    assert_ok(FtB_Matrix_new(&D, FTB_FP64, nrows, ncols, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, nrows, ncols, 1));
    assert_ok(FtB_mxm(D, M, NULL, s->text, A, B, desc));
    if (accumulator && !M) {
        assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, s->text, A, B, desc, FTB_ESTIMATE));
        assert_ok(FtB_Plan_set(plan, "accumulator", accumulator));
        assert_ok(FtB_Plan_set(plan, "chunk_rows", "3"));
        assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
    }
    assert_ok(FtB_mxm_arg(C, E, M, s->text, A, B, desc));
    check(C, E, A, B, s, M, complement);
    assert_same(C, D);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&D);
    FtB_Matrix_free(&E);
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
}

static void every_type(void **state)
{
    (void)state;
    static const char *const accumulators[] = {"dense", "list", "hash", NULL};
    rng r = rng_new();
    int t = 0;
    for (FtB_Type a = FTB_BOOL; a <= FTB_BF16; a++)
        for (FtB_Type b = FTB_BOOL; b <= FTB_BF16; b++, t++) {
            FtB_Matrix A = operand(&r, a, 7, 9, 0.5, t % 2), B = operand(&r, b, 9, 30, 0.3, t % 2);
            FtB_Matrix M = rng_matrix(&r, FTB_FP32, 7, 30, 0, 0.5);
            assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
            run_case(A, B, &reducers[t % REDUCERS], NULL, false, accumulators[t % 4]);
            run_case(A, B, &reducers[(t + 1) % REDUCERS], M, t % 2, NULL);
            FtB_Matrix_free(&A);
            FtB_Matrix_free(&B);
            FtB_Matrix_free(&M);
        }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Larger than any row buffer's slack, and sparse. */
static void sparse_reals(void **state)
{
    (void)state;
    rng r = rng_new();
    for (FtB_Type type = FTB_FP32; type <= FTB_BF16; type++)
        for (int s = 0; s < REDUCERS; s++) {
            FtB_Matrix A = operand(&r, type, 40, 20, 0.05, false), B = operand(&r, type, 20, 400, 0.05, true);
            run_case(A, B, &reducers[s], NULL, false, NULL);
            FtB_Matrix_free(&A);
            FtB_Matrix_free(&B);
        }
}

/* A times its own transpose, which without winners is symmetric: the plan of the one serves the other. */
static void symmetric(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = operand(&r, FTB_FP64, 30, 12, 0.4, true), B, C, E;
    FtB_Plan plan;
    FtB_Descriptor desc;
    assert_ok(ftb_matrix_transpose(&B, A));
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 30, 30, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, 30, 30, 1));
    assert_ok(FtB_Descriptor_new(&desc));
    assert_ok(FtB_Descriptor_set(desc, FTB_TRANSPOSE1, true));
    assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, "max : a * b", A, A, desc, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(plan, "triangle", "1"));
    assert_ok(FtB_Plan_set(plan, "mirror", "1"));
    assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
    assert_ok(FtB_mxm_arg(C, E, NULL, "max : a * b", A, A, desc));
    check(C, E, A, B, &reducers[1], NULL, false);
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&E);
}

/* -0.25 against -0.5, which whole numbers cannot tell apart. */
static void fractions(void **state)
{
    (void)state;
    const int64_t zero[] = {0, 0}, both[] = {0, 1};
    const double ones[] = {1, 1}, x[] = {-0.25, -0.5};
    FtB_Matrix A, B, C, E;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 1, 2, 1, 2, zero, both, ones, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_build(&B, FTB_FP64, 2, 1, 1, 2, both, zero, x, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 1, 1, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, 1, 1, 1));
    assert_ok(FtB_mxm_arg(C, E, NULL, "min : a * b", A, B, NULL));
    assert_true(value_at(C, 0, 0, 0, NAN) == -0.5 && value_at(E, 0, 0, 0, NAN) == 1);
    assert_ok(FtB_mxm_arg(C, E, NULL, "max : a * b", A, B, NULL));
    assert_true(value_at(C, 0, 0, 0, NAN) == -0.25 && value_at(E, 0, 0, 0, NAN) == 0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&E);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = operand(&r, FTB_FP32, 4, 5, 0.6, false), B = operand(&r, FTB_FP32, 5, 3, 0.6, false);
    FtB_Matrix C, E, small, real;
    FtB_Sink sink;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, 4, 3, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, 4, 3, 1));
    assert_ok(FtB_Matrix_new(&small, FTB_INT64, 4, 2, 1));
    assert_ok(FtB_Matrix_new(&real, FTB_FP64, 4, 3, 1));
    assert_ok(FtB_Sink_stats(&sink));
    assert_fails(GrB_INVALID_VALUE, "the reducer is plus; expected min or max",
                 FtB_mxm_arg(C, E, NULL, "plus : a", A, B, NULL));
    assert_fails(GrB_INVALID_VALUE, "2 values", FtB_mxm_arg(C, E, NULL, "min : [a, b]", A, B, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "E: 4 x 2; expected 4 x 3",
                 FtB_mxm_arg(C, small, NULL, "min : a", A, B, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "E: dtype fp64", FtB_mxm_arg(C, real, NULL, "min : a", A, B, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "other than C", FtB_mxm_arg(E, E, NULL, "min : a", A, B, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "C: a sink", FtB_mxm_arg(sink, E, NULL, "min : a", A, B, NULL));
    assert_int_equal(C->pattern->nvals + E->pattern->nvals, 0);
    FtB_Sink_free(&sink);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&E);
    FtB_Matrix_free(&small);
    FtB_Matrix_free(&real);
}

/* Both outputs change, or none. */
static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL, C = NULL, E = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 1};
    const float x[] = {1, 2, 3, 4};
    if ((info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 4, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_new(&C, FTB_FP64, 3, 3, 1)) == GrB_SUCCESS &&
        (info = FtB_Matrix_new(&E, FTB_INT64, 3, 3, 1)) == GrB_SUCCESS &&
        (info = FtB_mxm_arg(C, E, A, "min : a * b", A, A, arg)) != GrB_SUCCESS)
        assert_int_equal(C->pattern->nvals + E->pattern->nvals, 0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&E);
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
        cmocka_unit_test(every_type), cmocka_unit_test(sparse_reals), cmocka_unit_test(fractions),
        cmocka_unit_test(symmetric),  cmocka_unit_test(refusals),     cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
