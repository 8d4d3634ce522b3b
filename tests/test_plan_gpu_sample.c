/* The rule for neighbourhoods on a GPU, for GPUs that are described: few seeds go through the queue, many hop
 * by hop; what there is no room or no kernel for does not, nor picks by weight; figures follow the GPU's. */
#include "support/check.h"

#include "plan/gpu_sample_plan.h"
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

/* products-like: 2.4 million vertices, 123.7 million entries. */
static ftb_gpu_sample_plan plan_of(int64_t nseeds, int nhops, int64_t fanout, bool fits,
                                   const ftb_gpu_facts *gpu)
{
    ftb_gpu_sample_facts f = {
        .nseeds = nseeds, .nvertices = 2449029, .nvals = 123718280, .nhops = nhops, .fits = fits};
    ftb_gpu_sample_plan plan;
    for (int h = 0; h < nhops; h++)
        f.fanout[h] = fanout;
    ftb_rule_gpu_sample(&plan, &f, gpu);
    return plan;
}

static void sizes(void **state)
{
    (void)state;
    for (int g = 0; g < GPUS; g++) {
        assert_true(plan_of(1, 3, 10, true, &gpus[g]).queue);
        assert_true(plan_of(16, 3, 5, true, &gpus[g]).queue);
        for (int64_t seeds = 1; seeds <= 1 << 20; seeds *= 4) {
            const ftb_gpu_sample_plan p = plan_of(seeds, 3, 15, true, &gpus[g]),
                                      q = plan_of(4 * seeds, 3, 15, true, &gpus[g]);
            assert_true(q.tasks >= p.tasks && q.picks >= p.picks && q.capacity >= p.capacity);
            assert_true((double)p.capacity >= p.tasks * (1 - 1e-9) && p.vertices <= 2449029);
            assert_true(p.levels_seconds > 0 && q.levels_seconds >= p.levels_seconds);
            assert_true(p.queue == (p.queue_seconds < p.levels_seconds));
        }
    }
    assert_true(plan_of(1024, 1, 10, true, &gpus[GPU_H100]).picks == 1024 * 10);
    assert_true(fabs(plan_of(1, 2, 10, true, &gpus[GPU_H100]).tasks - 12) < 0.1); /* 1 and then 11 */
}

/* Trees of a seed each find what as many samples of one seed find, and merge nothing between them. */
static void trees(void **state)
{
    (void)state;
    enum { TREES = 3000 };
    const ftb_gpu_sample_plan one = plan_of(1, 3, 20, false, &gpus[GPU_H100]),
                              merged = plan_of(TREES, 3, 20, false, &gpus[GPU_H100]);
    const ftb_gpu_sample_facts f = {.nseeds = TREES,
                                    .ntrees = TREES,
                                    .nvertices = 2449029,
                                    .nvals = 123718280,
                                    .nhops = 3,
                                    .fanout = {20, 20, 20}};
    ftb_gpu_sample_plan apart;
    ftb_rule_gpu_sample(&apart, &f, &gpus[GPU_H100]);
    assert_true(fabs(apart.picks - TREES * one.picks) <= 1e-6 * apart.picks);
    assert_true(apart.picks > 1.2 * merged.picks);
}

static void refused(void **state)
{
    (void)state;
    for (int g = 0; g < GPUS; g++) {
        const ftb_gpu_sample_plan p = plan_of(1, 3, 10, false, &gpus[g]);
        assert_true(!p.queue && isinf(p.queue_seconds) && p.levels_seconds > 0);
        const ftb_gpu_sample_plan all = plan_of(10240, 3, -1, false, &gpus[g]);
        assert_true(all.picks <= 3 * 1.01 * 123718280.0);
    }
    const ftb_gpu_sample_plan much = plan_of(1 << 20, 3, 32, true, &gpus[GPU_SMALL]); /* gigabytes of picks */
    assert_true(!much.queue && isinf(much.queue_seconds) && much.bytes > gpus[GPU_SMALL].memory / 4);
    const ftb_gpu_facts unknown = {.multiprocessors = 14, .clock = 1e9, .memory_rate = 100e9};
    assert_true(plan_of(1 << 20, 3, 32, true, &unknown).queue_seconds < INFINITY);
}

/* By weight hops take more launches, and picks move more; and they have no queue. */
static void weighted(void **state)
{
    (void)state;
    for (int g = 0; g < GPUS; g++)
        for (int64_t seeds = 1; seeds <= 1 << 20; seeds *= 64) {
            ftb_gpu_sample_facts f = {
                .nseeds = seeds, .nvertices = 2449029, .nvals = 123718280, .nhops = 2, .fanout = {15, 10}};
            ftb_gpu_sample_plan uniform, plan;
            ftb_rule_gpu_sample(&uniform, &f, &gpus[g]);
            f.weighted = true;
            ftb_rule_gpu_sample(&plan, &f, &gpus[g]);
            assert_true(!plan.queue && isinf(plan.queue_seconds));
            assert_true(plan.picks == uniform.picks && plan.tasks == uniform.tasks);
            const double more = plan.levels_seconds - uniform.levels_seconds,
                         bytes = plan.picks * 32 / gpus[g].memory_rate; /* a sector of each pick, at least */
            assert_true(more > bytes && more < uniform.levels_seconds);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(trees),
                                       cmocka_unit_test(refused), cmocka_unit_test(weighted)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
