/* Asynchronous copies in the emulator of a GPU: tiles that are waited for have their values; what touches
 * them before, or their source, is found. */
#include "support/simt_tiles.h"

enum { SEEDS = 50 };

static void test_right(void **state)
{
    (void)state;
    tiles_right("tiles_right", SEEDS);
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
            tiles_run(mistakes[k].name, seed, &report);
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
            assert_true(tiles_run(names[k], seed, &report) > 0);
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
