/* The emulator of a GPU finds what is planted: each mistake in tests/cases/simt/mistakes.cu is reported as
 * what it is, whatever the order that a seed makes, and ends its launch where nothing sensible could follow.
 */
#include "support/check.h"

#include "support/rng.h"
#include "support/simt/simt.h"

#include <stdio.h>

#ifdef FTB_SIMT

enum { SEEDS = 20 };

/* Kernels that take (in, out), both of 128 words. */
static const struct {
    const char *name;
    unsigned threads;
    simt_kind kind;
    const char *text; /* in the report's first line */
} mistakes[] = {
    {"mask_without_itself", 32, SIMT_MASK, "mask 7fffffff does not name its own lane 31"},
    {"masks_differ", 32, SIMT_MASK, "__ballot_sync with mask"},
    {"operations_differ", 32, SIMT_MASK, "__all_sync with mask"},
    {"width_of_three", 32, SIMT_MASK, "a width of 3"},
    {"reads_lane_outside", 32, SIMT_SHUFFLE, "which the mask does not name; mask 0000ffff"},
};

static simt_dim line(unsigned count) { return (simt_dim){count, 1, 1}; }

/* Launches with every seed; each must report the kind, with the text in its first line. */
static void expect(const char *name, unsigned threads, void **arguments, simt_options options, simt_kind kind,
                   const char *text)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        simt_report report;
        options.seed = seed;
        const int64_t faults =
            simt_launch(simt_kernel_find(name), line(1), line(threads), 0, arguments, &options, &report);
        assert_int_equal(faults, report.faults);
        if (report.of_kind[kind] == 0 || !strstr(report.first[0].text, text)) {
            simt_print(&report, stdout);
            fail_msg("%s: no fault \"%s: ...%s...\"", name, simt_kind_name(kind), text);
        }
    }
}

static void test_each(void **state)
{
    (void)state;
    static int words[2][128];
    int *in = words[0], *out = words[1];
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++)
        expect(mistakes[k].name, mistakes[k].threads, (void *[]){&in, &out}, (simt_options){0},
               mistakes[k].kind, mistakes[k].text);
}

static void test_barriers(void **state)
{
    (void)state;
    static int words[128];
    int *out = words;
    expect("barrier_in_branch", 64, (void *[]){&out}, (simt_options){0}, SIMT_BARRIER,
           "waits at mistakes.cu:");
    expect("waits_for_other_warp", 32, (void *[]){&out}, (simt_options){0}, SIMT_DEADLOCK,
           "block 0: 16 threads wait at __syncthreads, 16 at warp operations, 0 have left");
    expect("waits_for_ever", 64, (void *[]){&out}, (simt_options){.steps = 10000}, SIMT_ENDLESS,
           "10000 steps");
}

static void test_lane_that_left(void **state)
{
    (void)state;
    int words[2][32] = {{0}}, *in = words[0], *out = words[1], n = 20;
    expect("reads_lane_that_left", 32, (void *[]){&n, &in, &out}, (simt_options){0}, SIMT_SHUFFLE,
           "which has left or is not there");
    n = 32;
    assert_int_equal(simt_launch(simt_kernel_find("reads_lane_that_left"), line(1), line(32), 0,
                                 (void *[]){&n, &in, &out}, NULL, NULL),
                     0);
}

/* No fault of a single operation: what is lost shows in the result, with most seeds. */
static void test_lost_tasks(void **state)
{
    (void)state;
    enum { DEPTH = 5, TASKS = (1 << DEPTH) - 1 };
    int wrong = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int tasks[TASKS + 8] = {DEPTH}, head = 0, tail = 1, done = 0;
        int *t = tasks, *at[] = {&head, &tail, &done};
        simt_options options = {.seed = seed, .resident = 4, .steps = 100000};
        simt_launch(simt_kernel_find("loses_tasks"), line(4), line(1), 0,
                    (void *[]){&t, &at[0], &at[1], &at[2]}, &options, NULL);
        wrong += done != TASKS;
    }
    assert_true(wrong > SEEDS / 4);
}

/* What no device would take is said, and nothing runs. */
static void test_launches(void **state)
{
    (void)state;
    static const struct {
        simt_dim grid, block;
        size_t shared;
        const char *text;
    } launches[] = {
        {{1, 1, 1}, {0, 1, 1}, 0, "a block of 0 x 1 x 1 threads"},
        {{1, 1, 1}, {1025, 1, 1}, 0, "a block of 1025 x 1 x 1 threads"},
        {{1, 1, 1}, {1, 1, 65}, 0, "a block of 1 x 1 x 65 threads"},
        {{1, 0, 1}, {1, 1, 1}, 0, "a grid of 1 x 0 x 1 blocks"},
        {{1, 65536, 1}, {1, 1, 1}, 0, "a grid of 1 x 65536 x 1 blocks"},
        {{1u << 31, 1, 1}, {1, 1, 1}, 0, "more than 2^31 threads"},
        {{1, 1, 1}, {1, 1, 1}, 1 << 20, "1048576 bytes of dynamic shared memory"},
    };
    simt_report report;
    for (size_t k = 0; k < sizeof launches / sizeof *launches; k++) {
        assert_int_equal(simt_launch(simt_kernel_find("places"), launches[k].grid, launches[k].block,
                                     launches[k].shared, NULL, NULL, &report),
                         1);
        assert_int_equal(report.of_kind[SIMT_LAUNCH], 1);
        assert_non_null(strstr(report.first[0].text, launches[k].text));
    }
    assert_null(simt_kernel_find("no such kernel"));
    assert_int_equal(simt_launch(NULL, line(1), line(1), 0, NULL, NULL, &report), 1);
    assert_string_equal(report.first[0].text, "there is no such kernel");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),           cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_lane_that_left), cmocka_unit_test(test_lost_tasks),
        cmocka_unit_test(test_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("skipped: the emulator needs g++ and an x86-64 processor, and no sanitizer beside it");
    return 77;
}

#endif
