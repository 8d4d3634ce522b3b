/* Work that is too small for several threads is planned for one; what was asked for stays. */
#include "support/check.h"

#include "core/core.h"
#include "support/planned.h"
#include "support/rng.h"

static void rule(void **state)
{
    (void)state;
    assert_ok(FtB_Context_set_threads(NULL, 4));
    FtB_Context ctx = ftb_context();
    assert_int_equal(ftb_threads_for(ctx, 0), 1);
    assert_int_equal(ftb_threads_for(ctx, 16383), 1);
    assert_int_equal(ftb_threads_for(ctx, 16384), 2);
    assert_int_equal(ftb_threads_for(ctx, INT64_C(1) << 40), 4);
    assert_int_equal(ftb_threads_for_values(ctx, 65535), 1);
    assert_int_equal(ftb_threads_for_values(ctx, 65536), 2);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Planned for a sum over the entries of a graph of 1000 vertices. */
static double threads_of(double density, const char *asked)
{
    const int64_t n = 1000;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, n, n, 1, density);
    FtB_Block X = NULL, C = NULL;
    FtB_Plan plan = NULL;
    assert_ok(FtB_Block_new(&X, n, 16, FTB_FP32));
    assert_ok(FtB_Block_new(&C, n, 16, FTB_FP32));
    assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, "plus : src", A, X, NULL, FTB_ESTIMATE));
    if (asked)
        assert_ok(FtB_Plan_set(plan, "threads", asked));
    double threads = planned_figure(plan, "threads");
    FtB_Plan_free(&plan);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Matrix_free(&A);
    return threads;
}

static void products(void **state)
{
    (void)state;
    assert_ok(FtB_Context_set_threads(NULL, 2));
    assert_true(threads_of(0.01, NULL) == 1);
    assert_true(threads_of(0.01, "2") == 2);
    assert_true(threads_of(0.2, NULL) == 2); /* 200,000 entries */
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rule), cmocka_unit_test(products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
