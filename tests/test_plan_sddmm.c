/* The rule for products over the entries of a pattern, on machines that are not there, and what it says. */
#include "plan/sddmm_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const ftb_machine_facts server = {
    .cores = 32, .l1 = 48 << 10, .l2 = 2 << 20, .l3 = 64 << 20, .memory = INT64_C(1) << 38, .l2_rate = 150e9};

/* n rows of the same degree, n columns, so many FP32 features. */
static ftb_sddmm_facts even(int64_t n, int64_t degree, int64_t features)
{
    ftb_sddmm_facts f = {.nrows = n,
                         .ncols = n,
                         .nvals = n * degree,
                         .source_bytes = 4 * features,
                         .row_bytes = 4 * features,
                         .entry_bytes = 4,
                         .heads = 1,
                         .features = features,
                         .kernel = "dot_f32",
                         .memory_left = INT64_MAX};
    if (degree > 0) {
        int b = 63 - __builtin_clzll((unsigned long long)degree);
        f.degrees.rows[b] = n;
        f.degrees.entries[b] = n * degree;
    }
    return f;
}

static void explained(char *text, size_t size, const ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts)
{
    FILE *file = fmemopen(text, size, "w");
    assert_non_null(file);
    ftb_explain_sddmm(plan, facts, &server, file);
    fclose(file);
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
        ftb_sddmm_plan far_plan = {0}, near_plan = {0};
        const ftb_sddmm_facts f = even(200000, 500, features);
        ftb_rule_sddmm(&far_plan, &f, &mesh);
        ftb_rule_sddmm(&near_plan, &f, &near);
        assert_true(far_plan.segment > 0);
        assert_true(near_plan.segment * near_plan.tile >= far_plan.segment * far_plan.tile);
        assert_true(near_plan.seconds < far_plan.seconds);
    }
}

static void test_choice(void **state)
{
    char text[2048];
    ftb_sddmm_plan plan = {0};
    (void)state;
    ftb_sddmm_facts dense = even(100000, 480, 128), sparse = even(100000, 2, 128), small = even(1000, 20, 16);
    ftb_rule_sddmm(&plan, &dense, &server);
    assert_true(plan.segment > 0 && plan.segment * plan.tile <= server.l2 && plan.seconds < plan.direct);
    explained(text, sizeof text, &plan, &dense);
    assert_non_null(strstr(text, "segments 0."));
    assert_non_null(strstr(text, "16-bit local columns"));
    assert_non_null(strstr(text, "150 GB/s from L2"));
    assert_non_null(strstr(text, "s at this core's L2 bandwidth"));
    ftb_rule_sddmm(&plan, &sparse, &server);
    assert_int_equal(plan.segment, 0);
    explained(text, sizeof text, &plan, &sparse);
    assert_non_null(strstr(text, "too few to pay"));
    assert_null(strstr(text, "partition "));
    ftb_rule_sddmm(&plan, &small, &server);
    assert_int_equal(plan.segment, 0);
    explained(text, sizeof text, &plan, &small);
    assert_non_null(strstr(text, "stay in L2"));
}

/* Memory that is short and products without entries leave rows as they lie. */
static void test_limits(void **state)
{
    char text[2048];
    ftb_sddmm_plan plan = {0};
    (void)state;
    ftb_sddmm_facts dense = even(100000, 480, 128), none = even(5, 0, 128), empty = even(0, 0, 4);
    dense.memory_left = 1 << 20;
    ftb_rule_sddmm(&plan, &dense, &server);
    assert_int_equal(plan.segment, 0);
    ftb_rule_sddmm(&plan, &none, &server);
    assert_int_equal(plan.segment, 0);
    explained(text, sizeof text, &plan, &none);
    assert_non_null(strstr(text, "predicted"));
    ftb_rule_sddmm(&plan, &empty, &server);
    explained(text, sizeof text, &plan, &empty);
    assert_non_null(strstr(text, "predicted"));
}

/* Eight heads of 16 for scores and values. */
static ftb_sddmm_facts attention_of(int64_t n, int64_t degree)
{
    ftb_sddmm_facts f = even(n, degree, 256);
    f.row_bytes = (2 * 256 + 4 * 8) * 4;
    f.heads = 8;
    f.piece_bytes = f.source_bytes / 8;
    f.attention = f.one_piece = f.can_stage = true;
    f.value_features = 128;
    f.value_bytes = 4;
    f.lanes = 16;
    f.kernel = "attention_dot_f32";
    return f;
}

/* Short rows are attended to in steps, long ones in one walk; nothing depends on the memory that is left. */
static void test_steps(void **state)
{
    static const char *const kernels[] = {"auto", "rows", "segments", "fused", "staged"};
    char text[2048];
    (void)state;
    for (int64_t degree = 4; degree <= 480; degree += 476)
        for (int k = 0; k < 5; k++) {
            ftb_sddmm_facts f = attention_of(100000, degree), can_not = f;
            ftb_sddmm_plan plan = {0}, other;
            assert_null(ftb_sddmm_plan_set(&plan, &f, "kernel", kernels[k]));
            other = plan;
            ftb_rule_sddmm(&plan, &f, &server);
            assert_true(plan.staged == (k == 4 || (k == 0 && degree == 4)));
            assert_true(k != 2 || plan.segment > 0);
            assert_true(k != 1 || plan.segment == 0);
            explained(text, sizeof text, &plan, &f);
            assert_non_null(strstr(text, "fused 1.00"));
            assert_true(!plan.staged == !strstr(text, "one after the other"));
            assert_true((degree == 480 && k != 4) == (strstr(text, "outgrow") != NULL));
            can_not.can_stage = false;
            ftb_rule_sddmm(&other, &can_not, &server);
            assert_false(other.staged);
        }
}

/* What is forced is kept while the plan that it leads to has no use for it. */
static void test_forced_in_any_order(void **state)
{
    static const char *const keys[][2] = {
        {"kernel", "rows"}, {"segment", "192"}, {"tile", "1"}, {"kernel", "staged"}, {"kernel", "segments"}};
    (void)state;
    ftb_sddmm_facts f = attention_of(100000, 480);
    ftb_sddmm_plan plan = {0};
    for (int k = 0; k < 5; k++) { /* planned again after each, as by FtB_Plan_set */
        assert_null(ftb_sddmm_plan_set(&plan, &f, keys[k][0], keys[k][1]));
        ftb_rule_sddmm(&plan, &f, &server);
        assert_true(k == 4 || plan.segment == 0);
    }
    assert_int_equal(plan.segment, 192);
    assert_true(plan.tile < f.source_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_near_l3),
                                       cmocka_unit_test(test_limits), cmocka_unit_test(test_steps),
                                       cmocka_unit_test(test_forced_in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
