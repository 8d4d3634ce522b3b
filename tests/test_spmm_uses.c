/* A partition is built where the products to come pay for it: as many as a plan says, or, in calls without
 * one, as many as there were. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "core/partition.h"
#include "plan/machine.h"
#include "support/planned.h"
#include "support/rng.h"

#define ROWS 2000
#define FEATURES 128

/* Partitions help soon, and take long to build. */
static void force_machine(void)
{
    ftb_machine_facts machine = {.cores = 1,
                                 .l1 = 4 << 10,
                                 .l2 = 128 << 10,
                                 .l3 = 1 << 20,
                                 .memory = INT64_C(1) << 34,
                                 .calibrated = true};
    machine.costs = ftb_costs_of(ftb_isa());
    machine.costs.build_entry = 200e-9;
    ftb_machine_force(&machine);
}

static FtB_Plan plan_of(FtB_Matrix A, FtB_Block X, FtB_Block C, const char *uses)
{
    FtB_Plan plan;
    assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL, FTB_ESTIMATE));
    if (uses)
        assert_ok(FtB_Plan_set(plan, "uses", uses));
    return plan;
}

/* The fewest products for which a plan builds a partition. */
static int fewest(FtB_Matrix A, FtB_Block X, FtB_Block C)
{
    char text[16];
    for (int uses = 1; uses < 1000; uses++) {
        snprintf(text, sizeof text, "%d", uses);
        FtB_Plan plan = plan_of(A, X, C, text);
        const bool partitioned = planned_figure(plan, "partitioned") > 0;
        assert_true(planned_figure(plan, "uses") == uses);
        FtB_Plan_free(&plan);
        if (partitioned)
            return uses;
    }
    return 0;
}

static void built_when_it_pays(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, ROWS, ROWS, 1, 0.1);
    FtB_Block X, C;
    assert_ok(FtB_Block_new(&X, ROWS, FEATURES, FTB_FP32));
    assert_ok(FtB_Block_new(&C, ROWS, FEATURES, FTB_FP32));
    force_machine();
    const int n = fewest(A, X, C);
    assert_true(n > 2 && n < 500);
    FtB_Plan plan = plan_of(A, X, C, NULL);
    assert_true(planned_figure(plan, "uses") == 8);
    assert_true((planned_figure(plan, "partitioned") > 0) == (n <= 8));
    assert_fails(GrB_INVALID_VALUE, "uses", FtB_Plan_set(plan, "uses", "0"));
    FtB_Plan_free(&plan);
    for (int t = 1; t <= n; t++) { /* a pattern learns by itself; plans do not count */
        plan = plan_of(A, X, C, NULL);
        FtB_Plan_free(&plan);
        assert_true(ftb_partition_widest(A->pattern) == 0);
        assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    }
    assert_true(ftb_partition_widest(A->pattern) > 0);
    ftb_machine_force(NULL);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_when_it_pays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
