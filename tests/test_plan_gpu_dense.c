/* The rule for dense products on a GPU, for GPUs that are described: from which size on cuBLAS makes them,
 * and that its seconds follow the GPU's figures. */
#include "support/check.h"

#include "plan/gpu_dense_plan.h"
#include "support/described_gpus.h"

#include <math.h>

static ftb_gpu_facts gpus[GPUS];

static int begin(void **state)
{
    (void)state;
    for (int n = 0; n < GPUS; n++)
        gpus[n] = described_gpu(n);
    return 0;
}

/* In tiles of 64 x 64, as gpu/dense.c cuts them. */
static ftb_gpu_dense_plan plan_of(int64_t m, int64_t n, int64_t k, int64_t size, bool cublas,
                                  const ftb_gpu_facts *gpu)
{
    const double tiles = (double)((m + 63) / 64 * ((n + 63) / 64));
    const ftb_gpu_dense_facts f = {
        .nrows = m, .ncols = n, .inner = k, .value_bytes = size, .blocks = tiles, .padded = tiles * 64 * 64};
    ftb_gpu_dense_plan plan;
    ftb_rule_gpu_dense(&plan, &f, cublas, gpu);
    return plan;
}

static void sizes(void **state)
{
    (void)state;
    for (int g = 0; g < GPUS; g++) {
        for (int64_t size = 4; size <= 8; size += 4) {
            assert_false(plan_of(64, 64, 64, size, true, &gpus[g]).cublas);
            assert_true(plan_of(2048, 2048, 2048, size, true, &gpus[g]).cublas);
            assert_false(plan_of(2048, 2048, 2048, size, false, &gpus[g]).cublas);
            bool before = false; /* once it is faster it stays so */
            for (int64_t side = 64; side <= 4096; side += 64) {
                const ftb_gpu_dense_plan with = plan_of(side, side, side, size, true, &gpus[g]),
                                         without = plan_of(side, side, side, size, false, &gpus[g]);
                assert_true(with.cublas >= before && with.seconds > 0);
                assert_true(with.cublas ? with.seconds < without.seconds : with.seconds >= without.seconds);
                before = with.cublas;
            }
        }
        assert_true(plan_of(233000, 128, 602, 4, true, &gpus[g]).cublas); /* a layer of a large graph */
        assert_false(plan_of(2708, 16, 16, 4, true, &gpus[g]).cublas);    /* of a small one */
    }
}

/* FP64 has half the lanes; what moves takes as long as the memory does; with few blocks most of a GPU waits.
 */
static void rates(void **state)
{
    const int64_t large = 8192, rows = 10000000;
    (void)state;
    for (int cublas = 0; cublas < 2; cublas++) {
        const double narrow = plan_of(large, large, large, 4, cublas, &gpus[GPU_H100]).seconds,
                     wide = plan_of(large, large, large, 8, cublas, &gpus[GPU_H100]).seconds;
        assert_true(fabs(wide / narrow - 2) < 0.01);
    }
    const double moving = (double)(rows * (64 + 4) + 64 * 4) * 4 / gpus[GPU_H200].memory_rate;
    assert_true(fabs(plan_of(rows, 64, 4, 4, false, &gpus[GPU_H200]).seconds / moving - 1) < 0.05);
    const double full = plan_of(64 * 132, 64, 4096, 4, false, &gpus[GPU_H100]).seconds,
                 one = plan_of(64, 64, 4096, 4, false, &gpus[GPU_H100]).seconds;
    assert_true(fabs(one / full - 1) < 0.02);
    assert_true(plan_of(64, 64, 1 << 20, 4, true, &gpus[GPU_H100]).cublas);
}

/* Where operands may be rounded cuBLAS is faster, the more so the fewer bits they have, and earlier chosen;
 * our kernel is not, nor is FP64, nor what only moves memory. */
static void precisions(void **state)
{
    const double tiles = 128.0 * 128;
    ftb_gpu_dense_facts f = {.nrows = 8192,
                             .ncols = 8192,
                             .inner = 8192,
                             .value_bytes = 4,
                             .blocks = tiles,
                             .padded = tiles * 64 * 64};
    ftb_gpu_dense_plan full, plan;
    (void)state;
    ftb_rule_gpu_dense(&full, &f, true, &gpus[GPU_H100]);
    double before = full.seconds;
    for (int p = FTB_PRECISION_TF32; p <= FTB_PRECISION_FP16; p++) {
        f.precision = (FtB_Precision)p;
        ftb_rule_gpu_dense(&plan, &f, true, &gpus[GPU_H100]);
        assert_true(plan.cublas && plan.seconds < 0.6 * before);
        before = plan.seconds;
    }
    f.precision = FTB_PRECISION_BF16;
    ftb_rule_gpu_dense(&plan, &f, true, &gpus[GPU_H100]);
    assert_true(plan.seconds <= before && plan.seconds >= before);
    ftb_rule_gpu_dense(&plan, &f, false, &gpus[GPU_H100]);
    f.precision = FTB_PRECISION_FP32;
    ftb_rule_gpu_dense(&full, &f, false, &gpus[GPU_H100]);
    assert_true(plan.seconds >= full.seconds && plan.seconds <= full.seconds);
    f.value_bytes = 8;
    ftb_rule_gpu_dense(&full, &f, true, &gpus[GPU_H100]);
    f.precision = FTB_PRECISION_TF32;
    ftb_rule_gpu_dense(&plan, &f, true, &gpus[GPU_H100]);
    assert_true(plan.seconds >= full.seconds && plan.seconds <= full.seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(rates),
                                       cmocka_unit_test(precisions)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
