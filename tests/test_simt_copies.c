/* Asynchronous copies in the emulator of a GPU: tiles that are waited for have their values; what touches
 * them before, or their source, is found. */
#include "support/check.h"

#include "support/rng.h"
#include "support/simt/simt.h"

#include <stdio.h>

enum { SEEDS = 50, THREADS = 64, TILES = 5 };

static float in[TILES * THREADS * 4] __attribute__((aligned(16))), out[THREADS];

static int64_t run(const char *name, uint64_t seed, simt_report *report)
{
    for (int k = 0; k < TILES * THREADS * 4; k++)
        in[k] = (float)(k % 1000);
    simt_memory_add(in, sizeof in, "in");
    simt_memory_add(out, sizeof out, "out");
    float *i = in, *o = out;
    int ntiles = TILES;
    return simt_launch(simt_kernel_find(name), (simt_dim){1, 1, 1}, (simt_dim){THREADS, 1, 1},
                       2 * THREADS * 16, (void *[]){&ntiles, &i, &o}, &(simt_options){.seed = seed}, report);
}

static void test_right(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int k = 0; k < SEEDS; k++) {
        simt_report report;
        if (run("tiles_right", rng_bits(&r), &report) != 0) {
            simt_print(&report, stdout);
            fail_msg("tiles_right: faults");
        }
        for (int t = 0; t < THREADS; t++) {
            float sum = 0;
            for (int tile = 0; tile < TILES; tile++)
                for (int f = 0; f < 4; f++)
                    sum += (float)(f + 1) * in[(tile * THREADS + THREADS - 1 - t) * 4 + f];
            assert_true(out[t] == sum);
        }
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        simt_kind kind;
        const char *text;
    } mistakes[] = {
        {"tiles_no_wait", SIMT_COPY, "reads dynamic shared memory, where an asynchronous copy by thread"},
        {"tiles_waits_for_fewer", SIMT_COPY, "writes, which it has not waited for"},
        {"tiles_no_commit", SIMT_COPY, "(copies.cu:"},
        {"tiles_source_overwritten", SIMT_COPY, "writes to in, where an asynchronous copy by thread"},
        {"tiles_wrong_way", SIMT_COPY, "goes from global to shared memory"},
    };
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            simt_report report;
            run(mistakes[k].name, seed, &report);
            if (report.of_kind[mistakes[k].kind] == 0 || !strstr(report.first[0].text, mistakes[k].text)) {
                simt_print(&report, stdout);
                fail_msg("%s: no fault \"%s: ...%s...\"", mistakes[k].name, simt_kind_name(mistakes[k].kind),
                         mistakes[k].text);
            }
        }
}

/* The copy has not begun, is under way, or has been waited for when another thread comes: it is a fault of
 * three kinds. */
static void test_barriers(void **state)
{
    (void)state;
    static const char *const names[] = {"tiles_no_barrier", "tiles_refilled_too_soon"};
    for (int k = 0; k < 2; k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            simt_report report;
            assert_true(run(names[k], seed, &report) > 0);
            assert_true(report.of_kind[SIMT_RACE] + report.of_kind[SIMT_COPY] +
                            report.of_kind[SIMT_UNWRITTEN] ==
                        report.faults);
            assert_non_null(strstr(report.first[0].text, "dynamic shared memory"));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_barriers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
