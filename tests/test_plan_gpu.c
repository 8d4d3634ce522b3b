/* The rule for sparse x block on a GPU, for GPUs that are described: which shape at which width, and that its
 * seconds follow the GPU's figures. */
#include "support/check.h"

#include "plan/gpu_spmm_plan.h"

#include <math.h>
#include <stdio.h>

#define HOST "cores = 4\nl1 = 32K\nl2 = 1M\nmemory = 64G\n"
static const char *const described[] = {
    HOST "gpu_multiprocessors = 108 # A100\ngpu_clock = 1.41\ngpu_l2 = 40M\ngpu_memory = 40G\n"
         "gpu_memory_rate = 1555\n",
    HOST "gpu_multiprocessors = 132 # H100\ngpu_clock = 1.755\ngpu_l2 = 50M\ngpu_memory = 80G\n"
         "gpu_l2_rate = 5500\ngpu_memory_rate = 3350\n",
    HOST "gpu_multiprocessors = 132 # H200\ngpu_clock = 1.755\ngpu_l2 = 50M\ngpu_memory = 141G\n"
         "gpu_memory_rate = 4800\n",
    HOST "gpu_multiprocessors = 14 # small\ngpu_clock = 1.2\ngpu_l2 = 2M\ngpu_memory = 4G\n"
         "gpu_memory_rate = 112\n"};
enum { GPUS = sizeof described / sizeof *described };

static bool read_text(ftb_machine_facts *m, const char *text)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    const char *wrong;
    int line;
    assert_non_null(file);
    const bool ok = ftb_machine_read(m, file, &line, &wrong);
    fclose(file);
    return ok;
}

static ftb_gpu_facts gpu_of(int n)
{
    ftb_machine_facts m = {0};
    assert_true(read_text(&m, described[n]));
    return m.gpu;
}

static ftb_spmm_facts graph(int64_t vertices, int64_t degree, int64_t features)
{
    return (ftb_spmm_facts){.nrows = vertices,
                            .ncols = vertices,
                            .nvals = vertices * degree,
                            .features = features,
                            .value_bytes = 4,
                            .stored_bytes = 4};
}

static ftb_gpu_spmm_plan plan_of(const ftb_spmm_facts *f, bool vectors, const ftb_gpu_facts *gpu)
{
    ftb_gpu_spmm_plan plan;
    ftb_rule_gpu_spmm(&plan, f, vectors, gpu);
    return plan;
}

/* Narrow rows take few lanes, wide ones whole warps; four values a lane only where rows allow it. */
static void widths(void **state)
{
    static const struct {
        int features;
        bool vectors;
        int lanes, values;
    } list[] = {{1, false, 4, 1},    {3, false, 4, 1},   {33, false, 32, 1},
                {129, false, 32, 1}, {4, true, 8, 4},    {32, true, 8, 4},
                {128, true, 32, 4},  {256, true, 32, 4}, {512, true, 32, 4}};
    (void)state;
    for (int n = 0; n < GPUS; n++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            const ftb_gpu_facts gpu = gpu_of(n);
            const ftb_spmm_facts f = graph(100000, 480, list[k].features);
            const ftb_gpu_spmm_plan plan = plan_of(&f, list[k].vectors, &gpu);
            if (plan.lanes != list[k].lanes || plan.values != list[k].values)
                fail_msg("GPU %d, %d features: %d x %d", n, list[k].features, plan.lanes, plan.values);
        }
}

/* Twice the memory's rate is half the time where sources are larger than L2, and nothing where they fit and
 * L2's own rate is known; a faster clock helps where steps decide. */
static void rates(void **state)
{
    (void)state;
    ftb_gpu_facts h100 = gpu_of(1), faster = h100;
    const ftb_spmm_facts large = graph(4000000, 30, 128), near = graph(50000, 500, 128);
    faster.memory_rate *= 2;
    assert_true(fabs(plan_of(&large, true, &faster).seconds / plan_of(&large, true, &h100).seconds - 0.5) <
                0.06);
    assert_true(plan_of(&near, true, &faster).seconds == plan_of(&near, true, &h100).seconds);
    const double bytes = (double)near.nvals * (4 + 512) + (double)near.nrows * 512;
    assert_true(fabs(plan_of(&near, true, &h100).seconds / (bytes / h100.l2_rate) - 1) < 0.15);
    ftb_gpu_facts slow = h100;
    slow.clock /= 100;
    assert_true(plan_of(&near, true, &slow).seconds > 3 * plan_of(&near, true, &h100).seconds);
}

static void wrong(void **state)
{
    static const char *const list[] = {HOST "gpu_multiprocessors = 0\n", HOST "gpu_multiprocessors = 10\n",
                                       HOST "gpu_multiprocessors = 10\ngpu_clock = 1\n",
                                       HOST "gpu_multiprocessors = 1.5\n", HOST "gpu_speed = 1\n"};
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        ftb_machine_facts m = {0};
        assert_false(read_text(&m, list[n]));
        assert_int_equal(m.gpu.multiprocessors, 0);
    }
}

/* Written and read again. */
static void text(void **state)
{
    (void)state;
    for (int n = 0; n < GPUS; n++) {
        ftb_machine_facts m = {0}, back = {0};
        char buffer[1024] = "";
        assert_true(read_text(&m, described[n]));
        FILE *file = fmemopen(buffer, sizeof buffer - 1, "w");
        ftb_machine_write(&m, file);
        fclose(file);
        assert_true(read_text(&back, buffer));
        assert_true(back.gpu.multiprocessors == m.gpu.multiprocessors && back.gpu.l2 == m.gpu.l2 &&
                    back.gpu.memory == m.gpu.memory && fabs(back.gpu.clock / m.gpu.clock - 1) < 1e-3 &&
                    fabs(back.gpu.memory_rate / m.gpu.memory_rate - 1) < 1e-3);
        assert_true(back.gpu.l2_rate == m.gpu.l2_rate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths), cmocka_unit_test(rates),
                                       cmocka_unit_test(wrong), cmocka_unit_test(text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
