/* The rule for features of batches: all of them go to a GPU where they fit, else as many rows are kept as
 * there is room for; what is asked for is done. */
#include "support/check.h"

#include "plan/gpu_features_plan.h"

#define GIB (INT64_C(1) << 30)

static ftb_gpu_features_plan plan_of(ftb_gpu_features_facts f)
{
    ftb_gpu_features_plan plan;
    ftb_rule_gpu_features(&plan, &f);
    return plan;
}

static void sizes(void **state)
{
    (void)state;
    const int64_t n = 100000000, row = 512; /* 47.7 GiB */
    int64_t before = 0;
    for (int64_t room = GIB / 4; room <= 160 * GIB; room *= 2) {
        const ftb_gpu_features_plan p =
            plan_of((ftb_gpu_features_facts){.nrows = n, .row_bytes = row, .free = room});
        assert_int_equal(p.whole, room >= 80 * GIB);
        assert_true(p.whole ? p.nkept == n : p.nkept * (row + 8) + 4 * (p.nkept > 0 ? n : 0) <= room);
        assert_true(p.nkept >= before);
        before = p.nkept;
    }
    assert_int_equal(before, n);
    assert_true(plan_of((ftb_gpu_features_facts){.nrows = n, .row_bytes = row, .free = 80 * GIB}).whole);
    assert_false(
        plan_of((ftb_gpu_features_facts){.nrows = n, .row_bytes = row, .free = 80 * GIB, .coming = 40 * GIB})
            .whole);
    assert_true(plan_of((ftb_gpu_features_facts){.nrows = n, .row_bytes = row, .free = -1}).whole);
    assert_int_equal(
        plan_of((ftb_gpu_features_facts){.nrows = n, .row_bytes = row, .free = GIB, .coming = 2 * GIB}).nkept,
        0);
    assert_true(plan_of((ftb_gpu_features_facts){.nrows = 0, .row_bytes = row, .free = 0}).whole);
}

static void asked(void **state)
{
    (void)state;
    const ftb_gpu_features_facts base = {.nrows = 1000, .row_bytes = 100, .free = 10};
    ftb_gpu_features_facts f = base;
    f.bytes = 5099;
    assert_int_equal(plan_of(f).nkept, 50);
    assert_false(plan_of(f).whole);
    f.bytes = 100000;
    assert_true(plan_of(f).whole);
    f.bytes = -1;
    assert_int_equal(plan_of(f).nkept, 0);
    assert_false(plan_of(f).whole);
    f.free = 100 * GIB;
    assert_false(plan_of(f).whole);
    f = base;
    f.share = 0.5;
    assert_int_equal(plan_of(f).nkept, 500);
    f.share = 1;
    assert_true(plan_of(f).whole);
    f.share = 1e-9;
    assert_int_equal(plan_of(f).nkept, 0);
    assert_false(plan_of(f).whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
