/* Dot products and leaky_relu(src + dst) on entries, on a GPU that does not exist (support/fake_gpu.h): the
 * latter to the host's bits, the former exactly of whole numbers and else beside the host's in FP64. */
#include "support/check.h"

#include "core/core.h"
#include "support/fake_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct shape {
    int64_t nrows, ncols, heads, width, offset, gap, hub;
    bool shared; /* src has one head for all */
} shape;

static FtB_Matrix like(FtB_Matrix A, int64_t heads, FtB_Type type)
{
    FtB_Matrix S;
    assert_ok(FtB_Matrix_like(&S, A, heads, type));
    return S;
}

static void dots(rng *r, const shape *of, bool whole)
{
    FtB_Matrix A = fake_gpu_matrix(r, of->nrows, of->ncols, 0, of->hub), S = like(A, of->heads, FTB_FP32),
               wanted = like(A, of->heads, FTB_FP64);
    FtB_Block X = fake_gpu_block(r, of->ncols, of->shared ? 1 : of->heads, of->width, of->offset, of->gap,
                                 whole),
              Y = fake_gpu_block(r, of->nrows, of->heads, of->width, of->offset, of->gap, whole),
              wide_x = fake_gpu_wide(X), wide_y = fake_gpu_wide(Y);
    int64_t home[2], there[2];
    int ran = fake_gpu_launches();
    assert_ok(FtB_mxm(wanted, A, NULL, "plus : dot(src, dst) * 0.5", wide_y, wide_x, FTB_DESC_RST1));
    assert_int_equal(fake_gpu_launches(), ran); /* in FP64: the host's */
    for (int n = 0; n < 3; n++) {
        assert_ok(FtB_Context_moved(NULL, &home[n == 2], &there[n == 2]));
        assert_ok(FtB_mxm(S, A, NULL, "plus : dot(src, dst) * 0.5", Y, X, FTB_DESC_RST1));
    }
    const int64_t heads = of->heads, width = of->width;
    const float *got = matrix_values(S); /* launches are late */
    const double *expected = matrix_values(wanted);
    if (fake_gpu_emulates() && A->pattern->nvals > 0) { /* what is there stays there */
        assert_true(fake_gpu_launches() >= ran + 3);
        assert_int_equal(home[0], home[1]);
        assert_int_equal(there[0], there[1]);
    }
    /* A sum of `width` products below 1, each of which is rounded once, as often as it has terms. */
    const double bound = whole ? 0 : (double)(width + 2) * 0x1p-24 * 0.5 * (double)width;
    for (int64_t k = 0; k < A->pattern->nvals * heads; k++)
        if (!(fabs(got[k] - expected[k]) <= bound))
            fail_msg("%lld x %lld heads: value %lld is %.9g, not %.9g", (long long)width, (long long)heads,
                     (long long)k, got[k], expected[k]);
    FtB_Matrix *const matrices[] = {&A, &S, &wanted};
    FtB_Block *const blocks[] = {&X, &Y, &wide_x, &wide_y};
    for (int n = 0; n < 3; n++)
        FtB_Matrix_free(matrices[n]);
    for (int n = 0; n < 4; n++)
        FtB_Block_free(blocks[n]);
}

/* Each variant of the kernel, heads that are wider than its span, and rows that are cut. */
static void test_dots(void **state)
{
    static const shape shapes[] = {{20, 30, 1, 8, 0, 0, 20, false},    {20, 30, 1, 32, 0, 4, 20, false},
                                   {20, 30, 1, 260, 0, 0, 9, false},   {20, 30, 3, 16, 0, 0, 20, false},
                                   {20, 30, 3, 20, 4, 0, 20, false},   {9, 30, 5, 64, 0, 0, 20, false},
                                   {20, 30, 1, 8, 1, 3, 20, false},    {20, 30, 1, 3, 0, 0, 20, false},
                                   {20, 30, 1, 37, 0, 0, 9, false},    {20, 30, 7, 5, 0, 2, 20, false},
                                   {20, 30, 3, 40, 1, 0, 20, false},   {5, 1100, 2, 4, 0, 0, 1090, false},
                                   {3, 3100, 1, 1, 0, 0, 3090, false}, {20, 30, 3, 8, 0, 0, 20, true},
                                   {20, 30, 9, 3, 0, 0, 20, true},     {1, 1, 1, 4, 0, 0, 1, false},
                                   {0, 5, 1, 4, 0, 0, 0, false},       {5, 4, 1, 4, 0, 0, 0, false},
                                   {20, 30, 8, 8, 0, 1, 20, false},    {20, 30, 40, 2, 0, 0, 9, false}};
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
        for (int whole = 0; whole < 2; whole++)
            dots(&r, &shapes[n], whole);
    for (int n = 0; n < rng_cases(60); n++) {
        const shape of = {rng_below(&r, 30),     1 + rng_below(&r, 40), 1 + rng_below(&r, 6),
                          1 + rng_below(&r, 40), rng_below(&r, 5),      rng_below(&r, 5),
                          rng_below(&r, 20),     rng_below(&r, 4) == 0};
        dots(&r, &of, n % 2);
    }
}

/* -0, infinities and what is no number. */
static void make_odd(rng *r, FtB_Block X)
{
    static const float odd[] = {-0.0F, 0, INFINITY, -INFINITY, NAN};
    float *x = block_values(X);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            if (rng_below(r, 6) == 0)
                x[i * X->ld + f] = odd[rng_below(r, 5)];
    assert_ok(FtB_Block_changed(X));
}

static void sums(rng *r, const shape *of, const char *text)
{
    FtB_Matrix A = fake_gpu_matrix(r, of->nrows, of->ncols, 0, of->hub), S = like(A, of->heads, FTB_FP32),
               wanted = like(A, of->heads, FTB_FP32);
    FtB_Block X = fake_gpu_block(r, of->ncols, of->heads, 1, of->offset, of->gap, false),
              Y = fake_gpu_block(r, of->nrows, of->heads, 1, of->offset, of->gap, false);
    make_odd(r, X);
    make_odd(r, Y);
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    assert_ok(FtB_mxm(wanted, A, NULL, text, Y, X, FTB_DESC_RST1));
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    const int ran = fake_gpu_launches();
    assert_ok(FtB_mxm(S, A, NULL, text, Y, X, FTB_DESC_RST1));
    const float *got = matrix_values(S), *expected = matrix_values(wanted);
    assert_int_equal(fake_gpu_launches() > ran, fake_gpu_emulates() && A->pattern->nvals > 0);
    for (int64_t k = 0; k < A->pattern->nvals * of->heads; k++)
        if (memcmp(&got[k], &expected[k], sizeof *got) != 0 && !(isnan(got[k]) && isnan(expected[k])))
            fail_msg("%s, %lld heads: value %lld is %.9g, not %.9g", text, (long long)of->heads, (long long)k,
                     got[k], expected[k]);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&wanted);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
}

static void test_sums(void **state)
{
    static const shape shapes[] = {{20, 30, 1, 1, 0, 0, 20, false},    {200, 30, 1, 1, 0, 2, 20, false},
                                   {20, 30, 5, 1, 1, 0, 20, false},    {20, 30, 70, 1, 0, 0, 9, false},
                                   {5, 1100, 3, 1, 0, 0, 1090, false}, {5, 4, 2, 1, 0, 0, 0, false}};
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        sums(&r, &shapes[n], "plus : src + dst");
        sums(&r, &shapes[n], "plus : leaky_relu(src + dst, 0.2)");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_dots, fake_gpu_clean),
                                       cmocka_unit_test_teardown(test_sums, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
