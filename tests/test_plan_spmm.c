/* The rule for sparse x block, on machines and graphs that are not there: how much it holds beside operands
 * and result. */
#include "plan/spmm_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const ftb_machine_facts server = {
    .cores = 32, .l1 = 48 << 10, .l2 = 2 << 20, .l3 = 64 << 20, .memory = INT64_C(1) << 38};

/* Rows of the same degree. */
static ftb_spmm_facts even(int64_t nrows, int64_t ncols, int bucket, int64_t features, int threads)
{
    ftb_spmm_facts f = {.nrows = nrows,
                        .ncols = ncols,
                        .nvals = nrows << bucket,
                        .listed = nrows,
                        .entries = nrows << bucket,
                        .features = features,
                        .value_bytes = 4,
                        .stored_bytes = 4,
                        .lanes = 16,
                        .threads = threads,
                        .memory_left = INT64_MAX,
                        .tuned = true,
                        .partitioned = true,
                        .kernel = "plus_copy_f32"};
    f.degrees.rows[bucket] = nrows;
    f.degrees.entries[bucket] = nrows << bucket;
    return f;
}

static int64_t held(const ftb_spmm_plan *plan) { return plan->threads * plan->most * plan->tile * 4; }

/* Threads hold a tile of the result for the rows of a part: the parts are more where rows are many. */
static void test_many_rows(void **state)
{
    (void)state;
    ftb_spmm_plan plan = {0};
    for (int threads = 1; threads <= 16; threads *= 4) {
        ftb_spmm_facts f = even(INT64_C(50000000), 20000, 6, 128, threads);
        ftb_rule_spmm(&plan, &f, &server);
        assert_int_equal(plan.family, FTB_SPMM_PARTITIONED);
        assert_true(held(&plan) <= INT64_C(257) << 20);
        assert_true(plan.parts * plan.most >= f.nrows);
        assert_true(plan.bytes <= (INT64_C(256) << 20) + threads * (INT64_C(2) << 20));
        f.memory_left = INT64_C(3) << 30;
        ftb_rule_spmm(&plan, &f, &server);
        assert_true(plan.family != FTB_SPMM_PARTITIONED || held(&plan) <= INT64_C(257) << 20);
    }
}

/* Where sources have few entries, packing them again for every part would cost more than it saves. */
static void test_few_entries(void **state)
{
    (void)state;
    ftb_spmm_plan plan = {.asked = {.forced = FTB_SPMM_SET_KERNEL, .family = FTB_SPMM_PARTITIONED}};
    ftb_spmm_facts f = even(20000000, 20000000, 5, 64, 1), small = even(100000, 100000, 8, 128, 2);
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.parts, 1);
    ftb_rule_spmm(&plan, &small, &server);
    assert_int_equal(plan.most, small.nrows);
    assert_true(plan.parts <= 2);
}

/* A part's rows of the result stay near while edges' values pass: more values, more parts. */
static void test_values_need_parts(void **state)
{
    (void)state;
    ftb_spmm_plan plain = {0}, valued = {0};
    ftb_spmm_facts f = even(100000, 100000, 9, 128, 1);
    ftb_rule_spmm(&plain, &f, &server);
    f.edge_bytes = 32;
    ftb_rule_spmm(&valued, &f, &server);
    assert_int_equal(valued.family, FTB_SPMM_PARTITIONED);
    assert_true(valued.parts > plain.parts);
    assert_true(valued.seconds > plain.seconds);
}

/* Where rows come from L3 nearly as fast as from L2, longer segments spare visits. */
static void test_near_l3(void **state)
{
    const ftb_machine_facts mesh = {
        .cores = 8, .l1 = 48 << 10, .l2 = 1 << 20, .l3 = 32 << 20, .memory = INT64_C(1) << 36};
    ftb_machine_facts near = mesh;
    (void)state;
    near.near_l3 = 1;
    for (int64_t features = 32; features <= 256; features *= 2) {
        ftb_spmm_plan far_plan = {0}, near_plan = {0};
        ftb_spmm_facts f = even(200000, 200000, 9, features, 1);
        ftb_rule_spmm(&far_plan, &f, &mesh);
        ftb_rule_spmm(&near_plan, &f, &near);
        assert_int_equal(near_plan.family, FTB_SPMM_PARTITIONED);
        assert_true(far_plan.segment * far_plan.tile * 4 <= mesh.l2);
        assert_true(near_plan.segment * near_plan.tile >= far_plan.segment * far_plan.tile);
        assert_true(features > 32 || near_plan.segment > far_plan.segment);
        assert_true(near_plan.seconds < far_plan.seconds);
    }
}

/* Short rows of many features: rows of a segment lie apart, and every tile would visit them again. */
static void test_short_rows(void **state)
{
    (void)state;
    for (int64_t features = 32; features <= 1024; features *= 2) {
        ftb_spmm_plan plan = {0};
        ftb_spmm_facts f = even(169343, 169343, 3, features, 1);
        ftb_rule_spmm(&plan, &f, &server);
        assert_int_equal(plan.family, FTB_SPMM_DIRECT);
    }
}

static void test_forced_parts(void **state)
{
    (void)state;
    ftb_spmm_facts f = even(100000, 100000, 9, 128, 2);
    for (int64_t parts = 1; parts <= 64; parts = 3 * parts + 1) {
        ftb_spmm_plan plan = {.asked = {.forced = FTB_SPMM_SET_PARTS, .parts = parts}};
        ftb_rule_spmm(&plan, &f, &server);
        assert_int_equal(plan.family, FTB_SPMM_PARTITIONED);
        assert_int_equal(plan.parts, parts);
    }
}

static void set_all(ftb_spmm_plan *plan, const ftb_spmm_facts *f, const char *const *keys, int first,
                    int step)
{
    static const char *const values[] = {"partitioned", "100", "16", "3"};
    *plan = (ftb_spmm_plan){0};
    ftb_rule_spmm(plan, f, &server);
    for (int x = 0; x < 4; x++) { /* planned again after each, as by FtB_Plan_set */
        int key = (first + x * step) % 4;
        assert_null(ftb_spmm_plan_set(plan, keys[key], values[key]));
        ftb_rule_spmm(plan, f, &server);
    }
}

/* Short rows of the matrix, a block far beyond L2: partitions where columns come from anywhere (1.9 s
 * beside 2.5 on such a graph of degree 51), rows as they lie where entries are few and near the diagonal. */
static void test_near_the_diagonal(void **state)
{
    (void)state;
    for (int near = 0; near < 2; near++) {
        ftb_spmm_facts f = even(2400000, 2400000, near ? 1 : 6, 32, 1);
        ftb_spmm_plan plan = {0};
        f.degrees.sampled = 1000;
        for (int b = 0; b < FTB_DEGREES; b++)
            f.degrees.reach[b] = near && b > 5 ? 1000 : 0;
        ftb_rule_spmm(&plan, &f, &server);
        assert_int_equal(plan.family, near ? FTB_SPMM_DIRECT : FTB_SPMM_PARTITIONED);
    }
}

/* What is forced is kept while the plan that it leads to has no use for it. */
static void test_forced_in_any_order(void **state)
{
    static const char *const keys[] = {"kernel", "segment", "tile", "parts"};
    (void)state;
    const ftb_spmm_facts f = even(100000, 100000, 9, 128, 2);
    for (int first = 0; first < 4; first++)
        for (int step = 1; step < 4; step += 2) {
            ftb_spmm_plan plan;
            set_all(&plan, &f, keys, first, step);
            assert_int_equal(plan.family, FTB_SPMM_PARTITIONED);
            assert_int_equal(plan.segment, 100);
            assert_int_equal(plan.tile, 16);
            assert_int_equal(plan.parts, 3);
            assert_null(ftb_spmm_plan_set(&plan, "kernel", "auto"));
            ftb_rule_spmm(&plan, &f, &server);
            assert_int_equal(plan.family, FTB_SPMM_DIRECT); /* tiny segments are slow */
            assert_null(ftb_spmm_plan_set(&plan, "segment", "4096"));
            ftb_rule_spmm(&plan, &f, &server);
            assert_int_equal(plan.family, FTB_SPMM_PARTITIONED);
        }
}

/* Each number goes into its own field, says no more than that, and no other value is taken. */
static void test_numbers(void **state)
{
    static const struct {
        const char *key, *least, *most, *below, *above;
        int64_t low, high;
    } list[] = {{"segment", "1", "65536", "0", "65537", 1, 65536},
                {"tile", "1", "128", "0", "129", 1, 128},
                {"threads", "1", "4096", "-1", "4097", 1, 4096},
                {"ordered", "0", "1", "-1", "2", 0, 1},
                {"ahead", "0", "64", "-1", "65", 0, 64},
                {"parts", "1", "65536", "0", "65537", 1, 65536},
                {"uses", "1", "1000000000", "0", "1000000001", 1, 1000000000},
                {"threshold", "2", "65536", "1", "65537", 2, 65536},
                {"bulk", "0", "1", "", "1x", 0, 1}};
    enum { KEYS = sizeof list / sizeof *list };
    unsigned all = 0;
    (void)state;
    for (int n = 0; n < KEYS; n++)
        for (int high = 0; high < 2; high++) {
            ftb_spmm_plan plan = {.there.family = 0};
            ftb_spmm_asked *a = &plan.asked;
            const int64_t *const fields[KEYS] = {&a->segment, &a->tile, &a->threads,   &a->ordered, &a->ahead,
                                                 &a->parts,   &a->uses, &a->threshold, &a->bulk};
            const int64_t wanted = high ? list[n].high : list[n].low;
            assert_non_null(ftb_spmm_plan_set(&plan, list[n].key, high ? list[n].above : list[n].below));
            assert_int_equal(a->forced, 0);
            assert_null(ftb_spmm_plan_set(&plan, list[n].key, high ? list[n].most : list[n].least));
            assert_true(a->forced && (a->forced & (a->forced - 1)) == 0);
            assert_true(high || !(all & a->forced));
            all |= a->forced;
            for (int other = 0; other < KEYS; other++)
                assert_int_equal(*fields[other], other == n ? wanted : 0);
        }
}

/* A column of a graph of 2^20 vertices: sliced where that was done already, or products to come pay for it;
 * not where sources stay near, nor without the memory, nor where the sum would be another one. */
static void test_slices(void **state)
{
    (void)state;
    ftb_spmm_plan plan = {0};
    ftb_spmm_facts f = even(1 << 20, 1 << 20, 5, 1, 1);
    f.partitioned = false;
    f.ordered = true;
    f.sliced = FTB_SLICES;
    f.slices_bytes = 5 * f.nvals;
    f.uses = 1;
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.family, FTB_SPMM_DIRECT);
    assert_true(plan.sliced_seconds > plan.direct_seconds);
    f.uses = 100;
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.family, FTB_SPMM_SLICED);
    assert_int_equal(plan.partition_bytes, f.slices_bytes);
    const double built = plan.seconds;
    f.uses = 1;
    f.slices_there = true;
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.family, FTB_SPMM_SLICED);
    assert_int_equal(plan.partition_bytes, 0);
    assert_true(plan.seconds < built && plan.seconds < 0.75 * plan.direct_seconds);
    f.memory_left = plan.bytes;
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.family, FTB_SPMM_SLICED);
    f.memory_left = plan.bytes - 1;
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.family, FTB_SPMM_DIRECT);
    f.memory_left = INT64_MAX;
    f.sliced = FTB_SLICES_ASKED;
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.family, FTB_SPMM_DIRECT);
    assert_null(ftb_spmm_plan_set(&plan, "kernel", "sliced"));
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.family, FTB_SPMM_SLICED);
    const ftb_choice sliced = ftb_spmm_chosen(&plan);
    ftb_spmm_plan trial = {0};
    assert_false(ftb_spmm_choose(&trial, &f, &server, &sliced, FTB_ORIGIN_TRIAL)); /* no hand asks */
    f.sliced = FTB_SLICES;
    assert_true(ftb_spmm_choose(&trial, &f, &server, &sliced, FTB_ORIGIN_TRIAL));
    f.sliced = FTB_NO_SLICES;
    ftb_rule_spmm(&plan, &f, &server);
    assert_int_equal(plan.family, FTB_SPMM_DIRECT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_need_parts),
                                       cmocka_unit_test(test_forced_parts),
                                       cmocka_unit_test(test_slices),
                                       cmocka_unit_test(test_forced_in_any_order),
                                       cmocka_unit_test(test_short_rows),
                                       cmocka_unit_test(test_many_rows),
                                       cmocka_unit_test(test_few_entries),
                                       cmocka_unit_test(test_near_the_diagonal),
                                       cmocka_unit_test(test_near_l3),
                                       cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
