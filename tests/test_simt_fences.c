/* Blocks that hand over to each other while they run: right ones have no fault in the emulator of a GPU, and
 * a fence that is missing, of the wrong scope, or in the wrong place is found. */
#include "support/check.h"

#include "support/rng.h"
#include "support/simt/simt.h"

#include <stdio.h>

enum { SEEDS = 100, BLOCKS = 4, THREADS = 40 };

static int data[BLOCKS * THREADS], flags[BLOCKS], out[THREADS];

/* Runs a kernel of (data, flags, out), from zeros; returns the number of faults. */
static int64_t run(const char *name, int blocks, int threads, uint64_t seed, simt_report *report)
{
    memset(data, 0, sizeof data);
    memset(flags, 0, sizeof flags);
    memset(out, 0, sizeof out);
    simt_memory_add(data, sizeof data, "data");
    simt_memory_add(flags, sizeof flags, "flags");
    simt_memory_add(out, sizeof out, "out");
    int *d = data, *f = flags, *o = out;
    return simt_launch(simt_kernel_find(name), simt_line((unsigned)blocks), simt_line((unsigned)threads), 0,
                       (void *[]){&d, &f, &o}, &(simt_options){.seed = seed, .resident = blocks}, report);
}

static void run_right(const char *name, int blocks, uint64_t seed)
{
    simt_report report;
    if (run(name, blocks, THREADS, seed, &report) != 0) {
        simt_print(&report, stdout);
        fail_msg("%s: faults", name);
    }
}

static void test_right(void **state)
{
    (void)state;
    static const char *const names[] = {"by_fence", "by_volatile", "by_release"};
    rng r = rng_new();
    for (int k = 0; k < SEEDS; k++) {
        const uint64_t seed = rng_bits(&r);
        for (size_t which = 0; which < 3; which++) {
            run_right(names[which], BLOCKS, seed);
            for (int t = 0; t < THREADS; t++)
                assert_int_equal(out[t], (BLOCKS - 1) * (THREADS - t));
        }
        run_right("chain", BLOCKS, seed);
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(out[t], BLOCKS * (BLOCKS - 1) / 2);
        run_right("last_block", BLOCKS, seed);
        assert_int_equal(out[0], BLOCKS * (BLOCKS + 1) / 2);
    }
}

static void test_between_warps(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        simt_report report;
        int *o = out;
        simt_memory_add(out, sizeof out, "out");
        if (simt_launch(simt_kernel_find("between_warps"), simt_line(1), simt_line(64), 0, (void *[]){&o},
                        &(simt_options){.seed = seed}, &report) != 0) {
            simt_print(&report, stdout);
            fail_msg("between_warps: faults");
        }
        for (int l = 0; l < 32; l++)
            assert_int_equal(out[l], 32 - l);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int threads;
    } mistakes[] = {
        {"no_release", 1},        {"release_to_block", 1},  {"no_acquire", 1},
        {"fence_behind_flag", 1}, {"fence_of_another", 32},
    };
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            simt_report report;
            run(mistakes[k].name, 2, mistakes[k].threads, seed, &report);
            if (report.of_kind[SIMT_RACE] == 0)
                fail_msg("%s, seed %d: no race", mistakes[k].name, (int)seed);
        }
}

/* What is no race may still come late: it shows in results, with some seeds. */
static void test_late_stores(void **state)
{
    (void)state;
    enum { MORE = 10 * SEEDS };
    int late = 0;
    for (uint64_t seed = 0; seed < MORE; seed++) {
        simt_report report;
        assert_int_equal(run("volatile_with_fence", 2, 1, seed, &report), 0);
        assert_int_equal(out[0], 7);
        assert_int_equal(run("volatile_alone", 2, 1, seed, &report), 0);
        late += out[0] != 7;
    }
    print_message("stores came late with %d of %d seeds\n", late, (int)MORE);
    assert_true(late > 0 && late < MORE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_between_warps),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_late_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
