/* Draws of dropout: what Random123 gives for the documented counters, on every instruction set; the share
 * that is kept; equal bits for any number of threads and any leading dimension. */
#include "support/check.h"

#include "core/core.h"
#include "core/draws.h"
#include "core/isa.h"
#include "cpu/kernels/dropout.h"
#include "featblas_nn.h"

#include <stdlib.h>

static void factors(void **state)
{
    float factor[FTB_DROPOUT_BLOCK];
    (void)state;
    for (int isa = 0; isa <= 2; isa++) {
        ftb_isa_force(isa);
        for (uint64_t block = 0; block < 50; block++) {
            uint64_t seed = block * 0x9E3779B97F4A7C15u,
                     at = block < 25 ? block : (UINT64_C(1) << 33) + block;
            uint32_t threshold = (uint32_t)(block * 1300);
            FTB_PICK(ftb_dropout_factors)(factor, seed, at, threshold, 2.5f);
            for (int k = 0; k < FTB_DROPOUT_BLOCK; k++) {
                uint32_t words[4];
                ftb_random_words(words, seed, at * 16 + (uint64_t)(k % 16), 0);
                uint32_t drawn = words[k / 16 % 4] >> (k / 64 * 16) & 0xffff;
                assert_true(factor[k] == (drawn < threshold ? 0 : 2.5f));
            }
        }
    }
    ftb_isa_force(-1);
}

enum { N = 501, D = 37 };

/* What dropout makes of a block of ones. */
static void drop(float *to, int64_t ld, int threads, double probability)
{
    FtB_Tape tape;
    FtB_Block X, W, Y;
    FtB_Parameter w;
    float *ones = malloc((size_t)(N * ld) * sizeof *ones);
    for (int64_t k = 0; k < N * ld; k++)
        ones[k] = 1;
    assert_ok(FtB_Context_set_threads(NULL, threads));
    assert_ok(FtB_Tape_new(&tape, 5));
    assert_ok(FtB_Block_wrap(&X, ones, N, D, ld, FTB_FP32));
    assert_ok(FtB_Parameter_new(&w, "w", N, D, FTB_FP32));
    assert_ok(FtB_Block_new(&W, N, D, FTB_FP32));
    FtB_Var y = FtB_keep(FtB_dropout(FtB_add(FtB_input(tape, X), FtB_parameter(tape, w)), probability));
    assert_ok(FtB_backward(FtB_squared_error(y, FtB_input(tape, W), NULL)));
    assert_ok(FtB_value(&Y, y));
    memcpy(to, block_values(Y), sizeof(float) * N * D);
    FtB_Block_free(&X);
    FtB_Block_free(&W);
    FtB_Block_free(&Y);
    FtB_Parameter_free(&w);
    FtB_Tape_free(&tape);
    free(ones);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

static void shares(void **state)
{
    static float first[N * D], again[N * D];
    (void)state;
    for (int p = 1; p < 10; p++) {
        double probability = p / 10.0, sum = 0;
        drop(first, D, 1, probability);
        drop(again, D + 3, 3, probability);
        assert_memory_equal(first, again, sizeof first);
        for (int k = 0; k < N * D; k++)
            sum += (double)first[k];
        assert_true(sum / (N * D) > 0.9 && sum / (N * D) < 1.1);
    }
}

static void refused(void **state)
{
    FtB_Tape tape;
    FtB_Block X;
    (void)state;
    assert_ok(FtB_Tape_new(&tape, 5));
    assert_ok(FtB_Block_new(&X, 2, 2, FTB_FP32));
    FtB_Var x = FtB_input(tape, X);
    assert_int_equal(FtB_dropout(x, 0).node, x.node);
    assert_int_equal(FtB_dropout(x, 1).node, -1);
    assert_fails(GrB_INVALID_VALUE, "FtB_dropout: probability is 1", FtB_Tape_status(tape));
    FtB_Block_free(&X);
    FtB_Tape_free(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(factors), cmocka_unit_test(shares),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
