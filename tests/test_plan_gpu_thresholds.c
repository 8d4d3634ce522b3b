/* From where on the rules for GPUs choose another way, for the GPUs that tests/cases/gpus describes: on both
 * sides of each threshold the choice is that of the costs, which are near each other there, and the threshold
 * lies elsewhere on another GPU, the way that its figures say. */
#include "support/check.h"

#include "plan/gpu_dense_plan.h"
#include "plan/gpu_sample_plan.h"
#include "plan/gpu_spgemm_plan.h"
#include "plan/spmm_plan.h"
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

/* A choice of a size: whether the other way is taken, and what both cost, if they have a cost. */
typedef struct choice {
    bool taken;
    double seconds, other;
} choice;
typedef choice (*choose)(double size, const ftb_gpu_facts *gpu, int variant);

/* The first of sizes from..to, a hundredth apart, that is taken; 0: none is. Once taken it stays so. */
static double threshold(choose rule, const ftb_gpu_facts *gpu, int variant, double from, double to)
{
    double found = 0;
    for (double size = from; size <= to; size *= 1.01) {
        const bool taken = rule(size, gpu, variant).taken;
        if (found > 0 && !taken)
            fail_msg("taken from %g on, but not at %g", found, size);
        if (found <= 0 && taken)
            found = size;
    }
    return found;
}

/* At a threshold what is taken costs `share` of the other, within some percent. */
static void crosses(choose rule, const ftb_gpu_facts *gpu, int variant, double at, double share,
                    double within)
{
    const choice c = rule(at, gpu, variant);
    assert_true(c.taken && c.seconds > 0);
    if (fabs(c.seconds / (share * c.other) - 1) > within)
        fail_msg("variant %d: at %g %g s are taken for %g s", variant, at, c.seconds, c.other);
}

/* ---- cuBLAS, by the side of a square: FP32, FP64, TF32 */

static choice dense(double size, const ftb_gpu_facts *gpu, int variant)
{
    const int64_t side = (int64_t)size;
    const double tiles = (double)((side + 63) / 64 * ((side + 63) / 64));
    const ftb_gpu_dense_facts f = {.nrows = side,
                                   .ncols = side,
                                   .inner = side,
                                   .value_bytes = variant == 1 ? 8 : 4,
                                   .blocks = tiles,
                                   .padded = tiles * 64 * 64,
                                   .precision = variant == 2 ? FTB_PRECISION_TF32 : FTB_PRECISION_FP32};
    ftb_gpu_dense_plan with, without;
    ftb_rule_gpu_dense(&with, &f, true, gpu);
    ftb_rule_gpu_dense(&without, &f, false, gpu);
    return (choice){with.cublas, with.seconds, without.seconds};
}

static void cublas(void **state)
{
    double at[GPUS][3];
    (void)state;
    for (int g = 0; g < GPUS; g++) {
        for (int v = 0; v < 3; v++) {
            at[g][v] = threshold(dense, &gpus[g], v, 16, 8192);
            assert_true(at[g][v] > 64 && at[g][v] < 1024);
            crosses(dense, &gpus[g], v, at[g][v], 1, 0.5); /* tiles come by whole ones */
        }
        assert_true(at[g][1] <= at[g][0]); /* half the lanes: a call's cost is less of it */
        assert_true(at[g][2] <= at[g][0]);
    }
    assert_true(at[GPU_SMALL][0] < at[GPU_A100][0] && at[GPU_A100][0] <= at[GPU_H100][0]);
    assert_true(at[GPU_SMALL][0] >= at[GPU_OLD][0] && at[GPU_SMALL][0] <= at[GPU_OLD][0]);
}

/* ---- hop by hop, by the number of seeds: of 3 hops with 10, 15 and 25 picks */

static choice levels(double size, const ftb_gpu_facts *gpu, int variant)
{
    ftb_gpu_sample_facts f = {
        .nseeds = (int64_t)size, .nvertices = 2449029, .nvals = 123718280, .nhops = 3, .fits = true};
    ftb_gpu_sample_plan p;
    for (int h = 0; h < f.nhops; h++)
        f.fanout[h] = variant == 0 ? 10 : variant == 1 ? 15 : 25;
    ftb_rule_gpu_sample(&p, &f, gpu);
    return (choice){!p.queue, p.levels_seconds, p.queue_seconds};
}

/* The faster the memory is beside the clock, the fewer are the queue's: its counters wait for each other. An
 * A100's queue has all that there is room for. */
static void queue(void **state)
{
    double at[GPUS][3];
    (void)state;
    for (int g = 0; g < GPUS; g++)
        for (int v = 0; v < 3; v++) {
            at[g][v] = threshold(levels, &gpus[g], v, 1, 1 << 22);
            if (at[g][v] > 1 && isfinite(levels(at[g][v], &gpus[g], v).other)) /* else there is no room */
                crosses(levels, &gpus[g], v, at[g][v], 1, 0.06);
        }
    for (int v = 0; v < 3; v++)
        assert_true(at[GPU_A100][v] <= 0 && at[GPU_H200][v] > 100);
    assert_true(at[GPU_H100][0] > at[GPU_H200][0]);
    assert_true(at[GPU_SMALL][0] > 1 && at[GPU_SMALL][0] < at[GPU_H200][0]);
}

/* ---- sparse x block */

/* 200,000 vertices; blocks of 512 rows use 4,000 sources `uses` times each, and 20,000 others once. */
static ftb_spmm_facts graph(double uses, const ftb_gpu_facts *gpu, FtB_Precision precision)
{
    const double blocks = 400, hot = 4000, once = 20000;
    const int class = (int)log2(uses);
    ftb_spmm_facts f = {
        .nrows = 204800,
        .ncols = 204800,
        .nvals = (int64_t)(blocks * (hot * uses + once)),
        .features = 128,
        .value_bytes = 4,
        .stored_bytes = 4,
        .gpu = {
            .gpu = *gpu, .at_once = 4, .staged = true, .precision = precision, .density = {.known = true}}};
    f.gpu.density.columns[class] += blocks * hot;
    f.gpu.density.entries[class] += blocks * hot * uses;
    f.gpu.density.columns[0] += blocks * once;
    f.gpu.density.entries[0] += blocks * once;
    f.gpu.density.blocks[class] = blocks;
    return f;
}

static const ftb_spmm_asked nothing = {.forced = 0};

static choice hybrid(double uses, const ftb_gpu_facts *gpu, int variant)
{
    ftb_spmm_facts f = graph(uses, gpu, FTB_PRECISION_FP32);
    ftb_gpu_spmm_plan plan;
    f.features = variant == 0 ? 32 : variant == 1 ? 128 : 512;
    ftb_rule_gpu_spmm(&plan, &f, &f.gpu, &nothing);
    return (choice){plan.hybrid, plan.hybrid_seconds, plan.direct_seconds};
}

static choice tensor(double uses, const ftb_gpu_facts *gpu, int variant)
{
    const ftb_spmm_facts f = graph(uses, gpu, variant == 0 ? FTB_PRECISION_TF32 : FTB_PRECISION_BF16);
    ftb_gpu_spmm_plan plan, without;
    ftb_rule_gpu_spmm(&without, &f, &f.gpu, &nothing);
    plan = without;
    ftb_rule_gpu_tensor(&plan, &f, &f.gpu, &nothing);
    return (choice){plan.tensor, plan.tensor_seconds, without.seconds};
}

/* Sources that blocks use so often are staged: the later, the faster the memory is that they come from else.
 */
static void staged(void **state)
{
    enum { MOST = 80 }; /* beyond, a small GPU has no room for the form */
    double at[GPUS][3];
    (void)state;
    for (int g = 0; g < GPUS; g++)
        for (int v = 0; v < 3; v++) {
            at[g][v] = threshold(hybrid, &gpus[g], v, 1, MOST);
            assert_true(at[g][v] > 1 && at[g][v] < 8);
            crosses(hybrid, &gpus[g], v, at[g][v], 0.9, 0.1);
        }
    for (int v = 0; v < 3; v++)
        assert_true(at[GPU_H200][v] > at[GPU_A100][v]);
}

/* Where an eighth and a ninth of a tile's places are full, of 512 rows; a small GPU has no room for tiles of
 * TF32, and none is known of the old one's. */
static void dense_tiles(void **state)
{
    (void)state;
    for (int g = 0; g < GPUS; g++) {
        const double at = threshold(tensor, &gpus[g], 0, 2, 400),
                     narrow = threshold(tensor, &gpus[g], 1, 2, 400);
        if (g < GPU_SMALL)
            assert_true(at >= 16 * 4 && at < 16 * 5 && narrow >= 14 * 4 && narrow < at);
        else
            assert_true(at <= 0 && (narrow > 14 * 4) == (g == GPU_SMALL));
        if (at > 0)
            assert_true(tensor(at, &gpus[g], 0).seconds < 0.9 * tensor(at, &gpus[g], 0).other);
    }
}

/* ---- frequent columns as bits, by their share of the products */

static choice bits(double percent, const ftb_gpu_facts *gpu, int variant)
{
    ftb_gpu_spgemm_facts f = {.ninner = 138493,
                              .ncols = 26744,
                              .bvals = 20000000,
                              .avals = 20000000,
                              .hot = -1,
                              .rows = 26744,
                              .products = variant ? 1e10 : 5e9,
                              .entries = 7e8,
                              .longest_row = 26744,
                              .cell_bytes = 2,
                              .hash_bytes = {4 * 64 * 12, 4 * 512 * 12, 2048 * 12, 8192 * 12},
                              .entry_bytes = 28,
                              .counts = true,
                              .gpu = *gpu};
    ftb_gpu_spgemm_plan plan;
    for (int c = 0; c < FTB_GPU_SPGEMM_HOTS; c++)
        f.hot_share[c] = percent / 100;
    ftb_rule_gpu_spgemm(&plan, &f);
    return (choice){plan.hot > 0, plan.seconds, plan.plain_seconds};
}

static void frequent(void **state)
{
    double at[GPUS][2];
    (void)state;
    for (int g = 0; g < GPUS; g++)
        for (int v = 0; v < 2; v++) {
            at[g][v] = threshold(bits, &gpus[g], v, 1, 100);
            if (at[g][v] > 0)
                crosses(bits, &gpus[g], v, at[g][v], 0.9, 0.05);
        }
    for (int g = 0; g < GPU_OLD; g++)
        assert_true(at[g][0] > at[g][1] && at[g][1] > 10); /* more products pay for as many bits */
    assert_true(at[GPU_SMALL][1] > at[GPU_H100][1] && at[GPU_OLD][1] > at[GPU_SMALL][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cublas), cmocka_unit_test(queue),
                                       cmocka_unit_test(staged), cmocka_unit_test(dense_tiles),
                                       cmocka_unit_test(frequent)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
