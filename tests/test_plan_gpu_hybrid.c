/* The hybrid form of sparse x block, for GPUs that are described: picked where blocks of rows share sources,
 * and not on sparse graphs without such; how much is staged; what was asked for. */
#include "support/check.h"

#include "plan/spmm_plan.h"
#include "support/described_gpus.h"

#include <math.h>
#include <stdio.h>

static ftb_spmm_facts graph(int64_t vertices, int64_t degree, int64_t features)
{
    return (ftb_spmm_facts){.nrows = vertices,
                            .ncols = vertices,
                            .nvals = vertices * degree,
                            .features = features,
                            .value_bytes = 4,
                            .stored_bytes = 4};
}

static const ftb_spmm_asked nothing = {.forced = 0};

static ftb_gpu_spmm_plan plan_of(const ftb_spmm_facts *f, int at_once, const ftb_gpu_facts *gpu)
{
    ftb_gpu_spmm_plan plan;
    const ftb_gpu_spmm_facts of = {.gpu = *gpu, .at_once = at_once};
    ftb_rule_gpu_spmm(&plan, f, &of, &nothing);
    return plan;
}

/* A tile of 32 features stays in L2 where one of 128 does not; where both do, columns are read once. */
static void near_tiles(void **state)
{
    (void)state;
    const ftb_gpu_facts h100 = described_gpu(GPU_H100);
    const ftb_spmm_facts large = graph(250000, 480, 128), small = graph(50000, 480, 128);
    assert_int_equal(plan_of(&large, 4, &h100).lanes, 8);
    assert_int_equal(plan_of(&small, 4, &h100).lanes, 32);
}

/* ---- hybrid */

/* How often blocks of 512 rows, `degree` entries each, use the sources: in `groups` of sources a share of the
 * columns has a share of the entries, at random. */
typedef struct part {
    double columns, entries;
} part;

static void add_uses(ftb_gpu_density *d, double blocks, double columns, double entries, int *most)
{
    const double mean = entries / columns;
    for (int u = 1; u < 4 * (int)mean + 40; u++) { /* Poisson */
        const double p = exp(u * log(mean) - mean - lgamma(u + 1.0));
        const int b = u >= 1 << (FTB_GPU_USES - 1) ? FTB_GPU_USES - 1 : (int)log2(u);
        d->columns[b] += blocks * columns * p;
        d->entries[b] += blocks * columns * p * u;
        if (columns * p >= 1 && b > *most)
            *most = b;
    }
}

static ftb_gpu_spmm_facts uses(const ftb_spmm_facts *f, const part *parts, int n, const ftb_gpu_facts *gpu)
{
    ftb_gpu_spmm_facts of = {.gpu = *gpu, .at_once = 4, .staged = true, .density = {.known = true}};
    const double blocks = (double)f->nrows / 512, entries = (double)f->nvals / blocks;
    int most = 0;
    for (int k = 0; k < n; k++)
        add_uses(&of.density, blocks, parts[k].columns * (double)f->ncols, parts[k].entries * entries, &most);
    of.density.blocks[most] = blocks;
    return of;
}

static const part even[] = {{1, 1}}, skewed[] = {{0.02, 0.5}, {0.18, 0.3}, {0.8, 0.2}};

/* Where few sources have most entries, or rows are so long that all are shared, they are staged; where a
 * source is used once by a block, not. What is seldom used stays direct; the tile is what shared memory
 * holds. */
static void densities(void **state)
{
    static const struct {
        int64_t vertices, degree, features;
        bool skewed, hybrid;
    } list[] = {{233000, 490, 128, true, true},  {233000, 490, 512, true, true},
                {100000, 480, 128, true, true},  {100000, 2000, 128, false, true},
                {1000000, 5, 128, false, false}, {2400000, 25, 128, false, false},
                {170000, 7, 32, false, false}};
    static const int64_t tiles[] = {320, 448, 448, 96, 192};
    (void)state;
    for (int n = 0; n < GPUS; n++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            const ftb_gpu_facts gpu = described_gpu(n);
            const ftb_spmm_facts f = graph(list[k].vertices, list[k].degree, list[k].features);
            const ftb_gpu_spmm_facts of =
                uses(&f, list[k].skewed ? skewed : even, list[k].skewed ? 3 : 1, &gpu);
            ftb_gpu_spmm_plan plan, without;
            ftb_rule_gpu_spmm(&plan, &f, &of, &nothing);
            const bool room = 8 * (double)f.nvals < 0.3 * (double)gpu.memory; /* for the form */
            if (plan.hybrid != (list[k].hybrid && room))
                fail_msg("GPU %d, case %d: hybrid %.3g s, direct %.3g s, threshold %d, %.2f", n, (int)k,
                         plan.hybrid_seconds, plan.direct_seconds, plan.threshold, plan.hot);
            if (!plan.hybrid)
                continue;
            assert_int_equal(plan.tile, tiles[n]);
            assert_true(plan.threshold >= 2 && plan.threshold < 512);
            assert_true(plan.hot > 0.3 && plan.hot <= 1);
            assert_true(plan.seconds == plan.hybrid_seconds && plan.seconds < plan.direct_seconds);
            ftb_gpu_spmm_facts fixed = of;
            fixed.fixed = true; /* no bit may depend on the GPU */
            ftb_rule_gpu_spmm(&without, &f, &fixed, &nothing);
            assert_false(without.hybrid);
        }
}

/* What is staged follows the density: if the seldom used are used less, more uses are asked for. */
static void thresholds(void **state)
{
    (void)state;
    const ftb_gpu_facts h100 = described_gpu(GPU_H100);
    const ftb_spmm_facts f = graph(233000, 490, 128);
    const ftb_gpu_spmm_facts all = uses(&f, even, 1, &h100), few = uses(&f, skewed, 3, &h100);
    ftb_gpu_spmm_plan plan;
    ftb_spmm_asked asked = {.forced = FTB_SPMM_SET_THRESHOLD | FTB_SPMM_SET_KERNEL,
                            .family = FTB_SPMM_HYBRID};
    double best = INFINITY;
    int chosen = 0;
    for (int u = 2; u <= 2048; u *= 2) {
        asked.threshold = u;
        ftb_rule_gpu_spmm(&plan, &f, &few, &asked);
        assert_true(plan.hybrid);
        assert_int_equal(plan.threshold, u);
        if (plan.hybrid_seconds < best) {
            best = plan.hybrid_seconds;
            chosen = u;
        }
    }
    ftb_rule_gpu_spmm(&plan, &f, &few, &nothing);
    assert_int_equal(plan.threshold, chosen);
    assert_true(plan.hybrid_seconds == best);
    ftb_rule_gpu_spmm(&plan, &f, &all, &nothing); /* one or two uses each */
    assert_true(!plan.hybrid || plan.hot < 0.9);
}

/* What was asked for is done where it can be: not in more shared memory than a block may have, nor where
 * there is no kernel. What a form costs counts where products are few. */
static void asked_for(void **state)
{
    (void)state;
    const ftb_gpu_facts h100 = described_gpu(GPU_H100);
    const ftb_spmm_facts f = graph(233000, 490, 128);
    const ftb_gpu_spmm_facts few = uses(&f, skewed, 3, &h100);
    ftb_gpu_spmm_facts none = few;
    none.staged = false;
    ftb_gpu_spmm_plan plan;
    ftb_spmm_asked asked = {.forced = FTB_SPMM_SET_KERNEL, .family = FTB_SPMM_DIRECT};
    ftb_rule_gpu_spmm(&plan, &f, &few, &asked);
    assert_false(plan.hybrid);
    asked.family = FTB_SPMM_HYBRID;
    ftb_rule_gpu_spmm(&plan, &f, &none, &asked);
    assert_false(plan.hybrid);
    asked.forced |= FTB_SPMM_SET_SEGMENT;
    asked.segment = 900; /* 2 x 900 x 128 bytes */
    ftb_rule_gpu_spmm(&plan, &f, &few, &asked);
    assert_true(plan.hybrid);
    assert_int_equal(plan.tile, 900);
    asked.segment = 910;
    ftb_rule_gpu_spmm(&plan, &f, &few, &asked);
    assert_false(plan.hybrid);
    asked = (ftb_spmm_asked){.forced = FTB_SPMM_SET_USES, .uses = 1};
    ftb_rule_gpu_spmm(&plan, &f, &few, &asked);
    assert_false(plan.hybrid);
    asked.uses = 100000;
    ftb_rule_gpu_spmm(&plan, &f, &few, &asked);
    assert_true(plan.hybrid);
}

static void because(const ftb_spmm_facts *f, const ftb_gpu_spmm_facts *of, const ftb_spmm_asked *asked,
                    const char *why)
{
    ftb_gpu_spmm_plan plan;
    ftb_rule_gpu_spmm(&plan, f, of, asked);
    assert_false(plan.hybrid);
    assert_string_equal(plan.why, why);
}

/* Why the direct form is taken is what it is. Min and max have no order. */
static void reasons(void **state)
{
    static const part once[] = {{1, 1e-9}};
    (void)state;
    const ftb_gpu_facts h100 = described_gpu(GPU_H100), small = described_gpu(GPU_SMALL);
    const ftb_spmm_facts f = graph(233000, 490, 128), sparse = graph(1000000, 5, 128),
                         large = graph(4000000, 490, 128), tiny = graph(1000, 4, 32);
    const ftb_gpu_spmm_facts good = uses(&f, skewed, 3, &h100);
    ftb_gpu_spmm_facts of = good;
    ftb_gpu_spmm_plan plan;
    ftb_spmm_asked asked = {.forced = FTB_SPMM_SET_KERNEL, .family = FTB_SPMM_DIRECT};
    because(&f, &good, &asked, "asked for");
    of.staged = false;
    because(&f, &of, &nothing, "the hybrid form has no kernel for it");
    of = good;
    of.density.known = false;
    because(&f, &of, &nothing, "how sources are shared was not counted");
    of = good;
    of.fixed = true;
    because(&f, &of, &nothing, "no bit may depend on the GPU's figures");
    of.exact = true;
    ftb_rule_gpu_spmm(&plan, &f, &of, &nothing);
    assert_true(plan.hybrid && !plan.why);
    of = uses(&tiny, skewed, 3, &h100);
    because(&tiny, &of, &nothing, "too short for sources to be staged");
    of = uses(&sparse, even, 1, &h100);
    because(&sparse, &of, &nothing, "rows share too few sources");
    of = uses(&sparse, once, 1, &h100);
    for (int b = 1; b < FTB_GPU_USES; b++)
        of.density.entries[b] = 0;
    because(&sparse, &of, &nothing, "rows share no sources");
    of = uses(&large, skewed, 3, &small);
    because(&large, &of, &nothing, "the form would take too much of the GPU's memory");
    asked = (ftb_spmm_asked){.forced = FTB_SPMM_SET_USES, .uses = 1};
    because(&f, &good, &asked, "few products would not pay for the form");
    asked = (ftb_spmm_asked){.forced = FTB_SPMM_SET_SEGMENT, .segment = 60000};
    because(&f, &good, &asked, "so large a segment does not fit shared memory");
    const ftb_spmm_facts empty = graph(1000, 0, 32);
    of = (ftb_gpu_spmm_facts){.gpu = h100, .at_once = 4};
    because(&empty, &of, &nothing, "there are no entries");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_tiles), cmocka_unit_test(densities),
                                       cmocka_unit_test(thresholds), cmocka_unit_test(asked_for),
                                       cmocka_unit_test(reasons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
