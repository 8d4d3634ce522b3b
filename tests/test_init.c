/* Initial values: bounds, moments, and the same numbers for any threads, layout and dtype. */
#include "support/check.h"
#include "support/rng.h"

#include "featblas_nn.h"

#include <math.h>
#include <stdlib.h>

static double at(FtB_Block X, int64_t i, int64_t j)
{
    int64_t ld;
    FtB_Type type;
    void *data;
    assert_ok(FtB_Block_shape(X, NULL, NULL, &ld, &type, &data));
    return type == FTB_FP32 ? (double)((const float *)data)[i * ld + j] : ((const double *)data)[i * ld + j];
}

typedef struct moments {
    double mean, deviation, least, most, cube, neighbour; /* neighbour: correlation of values k and k + 1 */
} moments;

static moments measure(FtB_Block X, int64_t nrows, int64_t ncols)
{
    moments m = {.least = INFINITY, .most = -INFINITY};
    double n = (double)(nrows * ncols), square = 0, before = 0;
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t j = 0; j < ncols; j++) {
            double x = at(X, i, j);
            m.mean += x / n;
            square += x * x / n;
            m.cube += x * x * x / n;
            m.neighbour += x * before / n;
            m.least = fmin(m.least, x);
            m.most = fmax(m.most, x);
            before = x;
        }
    m.deviation = sqrt(square);
    m.neighbour /= square;
    return m;
}

/* Of 400 x 300 values, moments are within five of their deviations of what they should be. */
static void rules(void **state)
{
    (void)state;
    const int64_t m = 400, n = 300;
    const double a[] = {2, 2, sqrt(6.0 / 700), sqrt(2.0 / 700), sqrt(2 * 3.0 / 400), sqrt(2.0 / 400)};
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, m, n, FTB_FP64));
    for (int how = FTB_INIT_UNIFORM; how <= FTB_INIT_KAIMING_NORMAL; how++) {
        bool uniform = (how - FTB_INIT_UNIFORM) % 2 == 0;
        double scale = a[how - FTB_INIT_UNIFORM], deviation = uniform ? scale / sqrt(3) : scale;
        const FtB_Init_options *options = how < FTB_INIT_GLOROT_UNIFORM ? FTB_INIT_OPTIONS(.gain = 2) : NULL;
        assert_ok(FtB_init(X, (FtB_Init)how, 7, options));
        moments s = measure(X, m, n);
        double root = sqrt((double)(m * n));
        assert_true(fabs(s.mean) < 5 * deviation / root);
        assert_true(fabs(s.deviation / deviation - 1) < 5 / root);
        assert_true(fabs(s.cube) < 5 * sqrt(15) * pow(deviation, 3) / root);
        assert_true(fabs(s.neighbour) < 5 / root);
        if (uniform)
            assert_true(s.least >= -scale && s.least < -0.999 * scale && s.most <= scale &&
                        s.most > 0.999 * scale);
        else
            assert_true(s.least < -3.5 * scale && s.most > 3.5 * scale && s.least > -6.5 * scale &&
                        s.most < 6.5 * scale);
    }
    assert_ok(
        FtB_init(X, FTB_INIT_GLOROT_UNIFORM, 7, FTB_INIT_OPTIONS(.fan_in = 1, .fan_out = 5, .gain = 3)));
    assert_true(fabs(measure(X, m, n).most - 3) < 0.01);
    assert_ok(FtB_init(X, FTB_INIT_KAIMING_UNIFORM, 7, FTB_INIT_OPTIONS(.fan_in = 3, .gain = 0.5)));
    assert_true(fabs(measure(X, m, n).most - 0.5) < 0.01);
    FtB_Block_free(&X);
}

/* Values depend on the seed and their number alone. */
static void the_same_numbers(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int number = 0; number < 100; number++) {
        int64_t m = rng_below(&r, 200), n = rng_below(&r, 200);
        FtB_Init how = (FtB_Init)rng_below(&r, FTB_INIT_KAIMING_NORMAL + 1);
        FtB_Block X, Y, Z, wide;
        uint64_t seed = rng_bits(&r);
        int64_t differ = 0;
        assert_ok(FtB_Block_new(&X, m, n, FTB_FP64));
        assert_ok(FtB_Block_new(&wide, m, n + 3, FTB_FP64));
        assert_ok(FtB_Block_columns(&Y, wide, 2, n));
        assert_ok(FtB_Block_new(&Z, m, n, FTB_FP32));
        FtB_Context_set_threads(NULL, 1);
        assert_ok(FtB_init(X, how, seed, NULL));
        FtB_Context_set_threads(NULL, 2 + number % 3);
        assert_ok(FtB_init(Y, how, seed, NULL));
        assert_ok(FtB_init(Z, how, seed, NULL));
        for (int64_t i = 0; i < m; i++) {
            assert_true(at(wide, i, 0) == 0 && at(wide, i, 1) == 0 && at(wide, i, n + 2) == 0);
            for (int64_t j = 0; j < n; j++)
                assert_true(at(X, i, j) == at(Y, i, j) && (float)at(X, i, j) == (float)at(Z, i, j));
        }
        assert_ok(FtB_init(Y, how, seed + 1, NULL));
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                differ += at(X, i, j) != at(Y, i, j);
        assert_int_equal(differ, how < FTB_INIT_UNIFORM ? 0 : m * n);
        FtB_Block_free(&X);
        FtB_Block_free(&Y);
        FtB_Block_free(&Z);
        FtB_Block_free(&wide);
    }
    FtB_Context_set_threads(NULL, 0);
}

static void constants(void **state)
{
    (void)state;
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, 2, 3, FTB_FP32));
    assert_ok(FtB_init(X, FTB_INIT_ONES, 0, NULL));
    for (int k = 0; k < 6; k++)
        assert_true(at(X, k / 3, k % 3) == 1);
    assert_ok(FtB_init(X, FTB_INIT_ZEROS, 0, NULL));
    for (int k = 0; k < 6; k++)
        assert_true(at(X, k / 3, k % 3) == 0);
    FtB_Block_free(&X);
}

static void refused(void **state)
{
    (void)state;
    FtB_Block X, I, fixed;
    float values[2] = {1, 2};
    assert_ok(FtB_Block_new(&X, 2, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&I, 2, 2, FTB_INT32));
    assert_ok(FtB_Block_wrap_const(&fixed, values, 1, 2, 2, FTB_FP32));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_init(NULL, FTB_INIT_ONES, 0, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "X is int32; expected fp32 or fp64",
                 FtB_init(I, FTB_INIT_ONES, 0, NULL));
    assert_fails(GrB_INVALID_VALUE, "must not be written", FtB_init(fixed, FTB_INIT_ZEROS, 0, NULL));
    assert_fails(GrB_INVALID_VALUE, "how is 99", FtB_init(X, (FtB_Init)99, 0, NULL));
    assert_fails(GrB_INVALID_VALUE, "FTB_INIT_OPTIONS",
                 FtB_init(X, FTB_INIT_ONES, 0, &(FtB_Init_options){0}));
    assert_fails(GrB_INVALID_VALUE, "fan_in -1",
                 FtB_init(X, FTB_INIT_GLOROT_UNIFORM, 0, FTB_INIT_OPTIONS(.fan_in = -1)));
    assert_fails(GrB_INVALID_VALUE, "gain inf",
                 FtB_init(X, FTB_INIT_UNIFORM, 0, FTB_INIT_OPTIONS(.gain = INFINITY)));
    assert_true(values[0] == 1 && values[1] == 2);
    FtB_Block_free(&X);
    FtB_Block_free(&I);
    FtB_Block_free(&fixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules), cmocka_unit_test(the_same_numbers),
                                       cmocka_unit_test(constants), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
