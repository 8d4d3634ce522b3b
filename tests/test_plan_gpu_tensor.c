/* The form of sparse x block by tensor cores, for GPUs that are described: where operands may be rounded and
 * tiles are dense, and nowhere else; what was asked for; how large tiles are. */
#include "support/check.h"

#include "plan/spmm_plan.h"
#include "support/described_gpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ftb_gpu_facts gpus[GPUS];

static int begin(void **state)
{
    (void)state;
    for (int n = 0; n < GPUS; n++)
        gpus[n] = described_gpu(n);
    return 0;
}

/* 100,000 vertices; blocks use some of the columns `uses` times each, the others once. */
static ftb_spmm_facts graph(const ftb_gpu_facts *gpu, FtB_Precision precision, int uses, double columns)
{
    const int64_t n = 102400, class = (int64_t)log2(uses);
    const double blocks = (double)n / 512, once = 2000;
    ftb_spmm_facts f = {
        .nrows = n,
        .ncols = n,
        .nvals = (int64_t)(blocks * (columns * uses + once)),
        .features = 128,
        .value_bytes = 4,
        .stored_bytes = 4,
        .gpu = {
            .gpu = *gpu, .at_once = 4, .staged = true, .precision = precision, .density = {.known = true}}};
    f.gpu.density.columns[class] = blocks * columns;
    f.gpu.density.entries[class] = blocks * columns * uses;
    f.gpu.density.columns[0] = f.gpu.density.entries[0] = blocks * once;
    f.gpu.density.blocks[class] = blocks;
    return f;
}

static ftb_gpu_spmm_plan plan_of(const ftb_spmm_facts *f, const ftb_spmm_asked *asked)
{
    static const ftb_spmm_asked nothing = {.forced = 0};
    ftb_gpu_spmm_plan plan;
    ftb_rule_gpu_spmm(&plan, f, &f->gpu, asked ? asked : &nothing);
    ftb_rule_gpu_tensor(&plan, f, &f->gpu, asked ? asked : &nothing);
    return plan;
}

/* From half full on they are taken; with few entries never; and never where the caller has not said so. */
static void densities(void **state)
{
    (void)state;
    for (int g = GPU_A100; g <= GPU_H200; g++)
        for (int p = FTB_PRECISION_TF32; p <= FTB_PRECISION_BF16; p++) {
            const ftb_spmm_facts full = graph(&gpus[g], (FtB_Precision)p, 300, 3000),
                                 few = graph(&gpus[g], (FtB_Precision)p, 16, 3000);
            ftb_spmm_facts plain = full;
            plain.gpu.precision = FTB_PRECISION_FP32;
            const ftb_gpu_spmm_plan without = plan_of(&plain, NULL), with = plan_of(&full, NULL);
            assert_true(with.hybrid && with.tensor && with.seconds < without.seconds);
            assert_true(with.hot > 0.9 && with.threshold <= 256 && with.tile % 32 == 0 && with.tile > 0);
            assert_int_equal(with.dense, p == FTB_PRECISION_TF32 ? 16 : 14);
            assert_false(without.tensor || plan_of(&few, NULL).tensor);
            assert_true(without.tensor_seconds <= 0);
        }
}

/* Fewer bits take less; the seconds are those that were compared. */
static void precisions(void **state)
{
    (void)state;
    const ftb_spmm_facts tf32 = graph(&gpus[GPU_H100], FTB_PRECISION_TF32, 400, 4000),
                         half = graph(&gpus[GPU_H100], FTB_PRECISION_FP16, 400, 4000);
    const ftb_gpu_spmm_plan one = plan_of(&tf32, NULL), other = plan_of(&half, NULL);
    assert_true(one.tensor && other.tensor && other.seconds < one.seconds);
    assert_true(one.seconds >= one.tensor_seconds && one.seconds <= one.tensor_seconds);
}

/* The line is that of docs/plans.md. */
static void explained(void **state)
{
    (void)state;
    const ftb_spmm_facts full = graph(&gpus[GPU_H100], FTB_PRECISION_TF32, 300, 3000);
    const ftb_gpu_spmm_plan plan = plan_of(&full, NULL);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ftb_explain_gpu_spmm(&plan, file);
    fclose(file);
    assert_non_null(strstr(text,
                           "tensor cores     where 16 rows of a tile have 16 and more entries of 128 places; "
                           "others in FP32\n"));
    assert_null(strstr(strstr(text, "<- chosen") + 1, "<- chosen")); /* one */
    free(text);
}

static void asked_for(void **state)
{
    (void)state;
    const ftb_spmm_facts full = graph(&gpus[GPU_H100], FTB_PRECISION_TF32, 300, 3000),
                         few = graph(&gpus[GPU_H100], FTB_PRECISION_TF32, 16, 3000),
                         small = graph(&gpus[GPU_SMALL], FTB_PRECISION_TF32, 300, 3000),
                         narrow = graph(&gpus[GPU_SMALL], FTB_PRECISION_BF16, 300, 3000);
    ftb_spmm_facts plain = full;
    plain.gpu.precision = FTB_PRECISION_FP32;
    ftb_spmm_asked asked = {.forced = FTB_SPMM_SET_KERNEL, .family = FTB_SPMM_TENSOR};
    assert_true(plan_of(&full, &asked).tensor);
    assert_false(plan_of(&plain, &asked).tensor); /* never by a plan alone */
    assert_false(plan_of(&few, &asked).tensor);   /* nothing is dense */
    assert_false(plan_of(&small, &asked).tensor); /* no room in its shared memory */
    assert_true(plan_of(&narrow, &asked).tensor);
    assert_int_equal(plan_of(&narrow, &asked).tile, 32);
    asked.forced |= FTB_SPMM_SET_THRESHOLD | FTB_SPMM_SET_SEGMENT;
    asked.threshold = 8;
    asked.segment = 33;
    assert_int_equal(plan_of(&few, &asked).threshold, 8); /* whatever is said of densities */
    assert_int_equal(plan_of(&few, &asked).tile, 64);
    asked.segment = 65536;
    assert_false(plan_of(&few, &asked).tensor);
    asked = (ftb_spmm_asked){.forced = FTB_SPMM_SET_KERNEL, .family = FTB_SPMM_HYBRID};
    assert_false(plan_of(&full, &asked).tensor);
    asked.family = FTB_SPMM_DIRECT;
    assert_false(plan_of(&full, &asked).hybrid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(densities), cmocka_unit_test(precisions),
                                       cmocka_unit_test(explained), cmocka_unit_test(asked_for)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
