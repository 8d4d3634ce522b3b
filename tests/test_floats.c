/* The caller's floating-point environment: sums that cancel, or nearly, lose no pair of a product, whatever
 * it is, the bits are those of the usual one, and it is left as it was.
 * Labels: unit, serial */
#include "support/check.h"
#include "support/compare.h"
#include "support/rng.h"

#include <fenv.h>
#include <stdlib.h>
#if defined __SSE__
#include <xmmintrin.h>
#endif

enum { ROWS = 40, COLS = 60, HUBS = 530, USUAL = 0, DOWN, FLUSH, ENVIRONMENTS };

static void set_environment(int which)
{
    fesetenv(FE_DFL_ENV);
    if (which == DOWN)
        fesetround(FE_DOWNWARD);
#if defined __SSE__
    if (which == FLUSH)
        _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
#endif
}

static bool environment_is(int which)
{
    bool flush = false;
#if defined __SSE__
    flush = _MM_GET_FLUSH_ZERO_MODE() == _MM_FLUSH_ZERO_ON;
    if (flush != (which == FLUSH))
        return false;
#endif
    return (fegetround() == FE_DOWNWARD) == (which == DOWN);
}

/* Values of both signs that cancel in pairs, or all but. few: as few as are tabulated. */
static FtB_Matrix cancelling(FtB_Type type, int64_t ncols, bool few)
{
    static int64_t I[ROWS * HUBS], J[ROWS * HUBS];
    static double X[ROWS * HUBS];
    rng r = rng_new();
    int64_t n = 0;
    FtB_Matrix A, B;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ncols; j++)
            if (j < 20 || rng_below(&r, 3) == 0) {
                const double size = few ? 0x1p-63 : 0x1p-63 * (1 + 0x1p-20 * (double)rng_below(&r, 64));
                I[n] = i;
                J[n] = j;
                X[n++] = j % 3 == 0 ? (i % 2 ? -size : size) : j % 3 == 1 ? 0x1p-63 : size;
            }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, ROWS, ncols, 1, n, I, J, X, FTB_DUP_ERROR, NULL));
    if (type == FTB_FP64)
        return A;
    float *values = malloc(sizeof *values * (size_t)n);
    for (int64_t e = 0; e < n; e++)
        values[e] = (float)X[e];
    assert_ok(FtB_Matrix_build(&B, type, ROWS, ncols, 1, n, I, J, values, FTB_DUP_ERROR, NULL));
    free(values);
    FtB_Matrix_free(&A);
    return B;
}

static FtB_Matrix product(FtB_Matrix R, const char *text, FtB_Type type, int64_t n, int environment)
{
    FtB_Matrix P;
    assert_ok(FtB_Matrix_new(&P, type, n, n, 1));
    set_environment(environment);
    const GrB_Info info = FtB_mxm(P, NULL, NULL, text, R, R, FTB_DESC_T0);
    const bool kept = environment_is(environment);
    set_environment(USUAL);
    assert_ok(info);
    assert_true(kept);
    return P;
}

static void no_pair_is_lost(void **state)
{
    static const char *const texts[] = {"plus : a * b", "plus : a", "plus : a - b", "plus : a * abs(b)",
                                        "mean : a * b"};
    (void)state;
    for (int threads = 1; threads < 4; threads += 2)
        for (int kind = 0; kind < 8; kind++) {
            const FtB_Type type = kind % 2 ? FTB_FP64 : FTB_FP32;
            const int64_t n = kind / 4 ? HUBS : COLS;
            FtB_Matrix R = cancelling(type, n, kind / 2 % 2);
            assert_ok(FtB_Context_set_threads(NULL, threads));
            for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
                FtB_Matrix expected = product(R, texts[t], type, n, USUAL);
                for (int environment = DOWN; environment < ENVIRONMENTS; environment++) {
                    FtB_Matrix got = product(R, texts[t], type, n, environment);
                    assert_same(expected, got);
                    FtB_Matrix_free(&got);
                }
                FtB_Matrix_free(&expected);
            }
            FtB_Matrix_free(&R);
        }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

static void projections(void **state)
{
    static const char *const weights[] = {"dot", "cosine", "w1"};
    FtB_Matrix R = cancelling(FTB_FP32, HUBS, true);
    (void)state;
    for (size_t w = 0; w < sizeof weights / sizeof *weights; w++)
        for (int environment = DOWN; environment < ENVIRONMENTS; environment++) {
            FtB_Matrix P[2];
            for (int k = 0; k < 2; k++) {
                assert_ok(FtB_Matrix_new(&P[k], FTB_FP32, HUBS, HUBS, 1));
                set_environment(k ? environment : USUAL);
                const GrB_Info info = FtB_project(P[k], R, weights[w], NULL);
                set_environment(USUAL);
                assert_ok(info);
            }
            int64_t nvals[2];
            for (int k = 0; k < 2; k++)
                assert_ok(FtB_Matrix_shape(P[k], NULL, NULL, &nvals[k], NULL, NULL));
            assert_int_equal(nvals[0], nvals[1]);
            FtB_Matrix_free(&P[0]);
            FtB_Matrix_free(&P[1]);
        }
    FtB_Matrix_free(&R);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_pair_is_lost), cmocka_unit_test(projections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
