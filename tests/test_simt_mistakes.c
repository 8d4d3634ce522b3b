/* The emulator of a GPU finds what is planted: each mistake in tests/cases/simt/mistakes.cu is reported as
 * what it is, whatever the order that a seed makes, and ends its launch where nothing sensible could follow.
 */
#include "support/check.h"

#include "support/rng.h"
#include "support/simt/simt.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 20 };

/* Kernels that take (in, out), both of 128 words; in[k] = k. */
static const struct {
    const char *name;
    unsigned blocks, threads;
    size_t shared;
    simt_kind kind;
    const char *text; /* in the report's first line */
} mistakes[] = {
    {"mask_without_itself", 1, 32, 0, SIMT_MASK, "mask 7fffffff does not name its own lane 31"},
    {"masks_differ", 1, 32, 0, SIMT_MASK, "__ballot_sync with mask"},
    {"operations_differ", 1, 32, 0, SIMT_MASK, "__all_sync with mask"},
    {"width_of_three", 1, 32, 0, SIMT_MASK, "a width of 3"},
    {"reads_lane_outside", 1, 32, 0, SIMT_SHUFFLE, "which the mask does not name; mask 0000ffff"},
    {"no_barrier", 1, 128, 0, SIMT_RACE, "no_barrier::part, bytes"},
    {"no_barrier_behind", 1, 128, 0, SIMT_RACE, "no_barrier_behind::word, bytes 0 to 3"},
    {"no_syncwarp", 1, 32, 0, SIMT_RACE, "no_syncwarp::words"},
    {"shuffle_orders_nothing", 1, 32, 0, SIMT_RACE, "shuffle_orders_nothing::words"},
    {"syncwarp_of_halves", 1, 32, 0, SIMT_RACE, "syncwarp_of_halves::words"},
    {"syncwarp_between_warps", 1, 64, 0, SIMT_RACE, "syncwarp_between_warps::words"},
    {"one_byte_twice", 1, 32, 0, SIMT_RACE, "one_byte_twice::bytes, bytes 0 to 0"},
    {"word_over_bytes", 1, 32, 16, SIMT_RACE, "dynamic shared memory, bytes"},
    {"lost_partial", 2, 32, 0, SIMT_RACE, "of out, bytes 0 to 3"},
    {"atomic_beside_plain", 1, 32, 0, SIMT_RACE, "an atomic access"},
    {"reads_atomic_too_soon", 1, 64, 0, SIMT_RACE, "an atomic access"},
    {"reads_unwritten", 1, 32, 0, SIMT_UNWRITTEN, "thread (31, 0, 0) reads reads_unwritten::words"},
    {"counts_from_nothing", 1, 32, 0, SIMT_UNWRITTEN, "reads counts_from_nothing::count"},
    {"reads_one_past", 1, 128, 0, SIMT_BOUNDS,
     "thread (126, 0, 0) reads 4 bytes at byte 512 of in, which has 512"},
    {"writes_before", 1, 32, 0, SIMT_BOUNDS, "thread (0, 0, 0) writes 4 bytes"},
    {"index_past_shared", 1, 32, 0, SIMT_BOUNDS, "thread (31, 0, 0), races.cu:"},
    {"pointer_past_shared", 1, 32, 0, SIMT_BOUNDS, "writes 4 bytes at byte"},
    {"misaligned", 1, 32, 0, SIMT_ALIGNMENT, "reads 8 bytes at an address that is no multiple of 8"},
    {"past_dynamic_shared", 1, 32, 124, SIMT_BOUNDS,
     "writes 4 bytes at byte 124 of dynamic shared memory, which has 124"},
    {"past_own_array", 1, 32, 0, SIMT_BOUNDS, "index 4 is outside the array"},
    {"wide_read_past_end", 1, 32, 0, SIMT_BOUNDS, "reads 16 bytes at byte"},
    {"writes_constant", 1, 32, 0, SIMT_BOUNDS, "writes 4 bytes in no memory that it was given"},
    {"other_threads_array", 1, 32, 0, SIMT_BOUNDS, "reads 4 bytes in no memory that it was given"},
};

/* Kernels may reach it. */

/* Launches with every seed; each must report the kind, with the text in its first line. */
static void expect(const char *name, unsigned blocks, unsigned threads, size_t shared, void **arguments,
                   simt_options options, simt_kind kind, const char *text)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        simt_report report;
        options.seed = seed;
        const int64_t faults = simt_launch(simt_kernel_find(name), simt_line(blocks), simt_line(threads),
                                           shared, arguments, &options, &report);
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
    /* What lies beside is nobody's. */
    static int memory[512];
    int *in = memory + 32, *out = memory + 300;
    for (int k = 0; k < 128; k++)
        in[k] = k;
    in[2] = 4;
    simt_memory_add(in, 128 * sizeof *in, "in");
    simt_memory_add(out, 128 * sizeof *out, "out");
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++)
        expect(mistakes[k].name, mistakes[k].blocks, mistakes[k].threads, mistakes[k].shared,
               (void *[]){&in, &out}, (simt_options){.resident = (int)(k % 3)}, mistakes[k].kind,
               mistakes[k].text);
    simt_memory_remove(in);
    simt_memory_remove(out);
}

static void test_barriers(void **state)
{
    (void)state;
    static int words[128];
    int *out = words;
    SIMT_MEMORY_ADD(words);
    expect("barrier_in_branch", 1, 64, 0, (void *[]){&out}, (simt_options){0}, SIMT_BARRIER,
           "waits at mistakes.cu:");
    expect("waits_for_other_warp", 1, 32, 0, (void *[]){&out}, (simt_options){0}, SIMT_DEADLOCK,
           "block 0: 16 threads wait at __syncthreads, 16 at warp operations, 0 have left");
    expect("waits_for_ever", 1, 64, 0, (void *[]){&out}, (simt_options){.steps = 10000}, SIMT_ENDLESS,
           "10000 steps");
}

/* Nothing counts the steps of a loop that touches no memory. */
static void test_plain_word(void **state)
{
    (void)state;
    static int words[1];
    int *out = words;
    SIMT_MEMORY_ADD(words);
    simt_report report;
    assert_int_equal(simt_launch(simt_kernel_find("waits_for_plain_word"), simt_line(1), simt_line(64), 0,
                                 (void *[]){&out}, &(simt_options){.steps = 1000000}, &report),
                     1);
    assert_int_equal(report.of_kind[SIMT_ENDLESS], 1);
}

static void test_lane_that_left(void **state)
{
    (void)state;
    static int words[2][32];
    SIMT_MEMORY_ADD(words);
    int *in = words[0], *out = words[1], n = 20;
    expect("reads_lane_that_left", 1, 32, 0, (void *[]){&n, &in, &out}, (simt_options){0}, SIMT_SHUFFLE,
           "which has left or is not there");
    n = 32;
    assert_int_equal(simt_launch(simt_kernel_find("reads_lane_that_left"), simt_line(1), simt_line(32), 0,
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
        int tasks[TASKS + 8] = {DEPTH}, counts[3] = {0, 1, 0}; /* head, tail, done */
        SIMT_MEMORY_ADD(tasks);
        SIMT_MEMORY_ADD(counts);
        int *t = tasks, *at[] = {counts, counts + 1, counts + 2};
        simt_options options = {.seed = seed, .resident = 4, .steps = 100000};
        simt_launch(simt_kernel_find("loses_tasks"), simt_line(4), simt_line(1), 0,
                    (void *[]){&t, &at[0], &at[1], &at[2]}, &options, NULL);
        wrong += counts[2] != TASKS;
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
    assert_int_equal(simt_launch(NULL, simt_line(1), simt_line(1), 0, NULL, NULL, &report), 1);
    assert_string_equal(report.first[0].text, "there is no such kernel");
}

/* A report is text: the seed, and what was found, once for each place in the source. */
static void test_print(void **state)
{
    (void)state;
    int in[32] = {0}, out[32], *i = in, *o = out;
    SIMT_MEMORY_ADD(in);
    SIMT_MEMORY_ADD(out);
    simt_report report;
    simt_launch(simt_kernel_find("no_syncwarp"), simt_line(1), simt_line(32), 0, (void *[]){&i, &o},
                &(simt_options){.seed = 5}, &report);
    assert_true(report.faults >= 8 && report.of_kind[SIMT_RACE] > 0);
    assert_true(report.nfirst >= 1 && report.nfirst <= 3 && report.accesses > 0);
    char text[1000] = "";
    FILE *const file = tmpfile();
    assert_non_null(file);
    simt_print(&report, file);
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, "simt: seed 5, "));
    assert_non_null(strstr(text, "  race: "));
    assert_non_null(strstr(text, ": nothing orders them\n"));
    if (system("addr2line --version > /dev/null 2>&1") == 0)
        assert_non_null(strstr(text, "races.cu:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),           cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_lane_that_left), cmocka_unit_test(test_lost_tasks),
        cmocka_unit_test(test_launches),       cmocka_unit_test(test_print),
        cmocka_unit_test(test_plain_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
