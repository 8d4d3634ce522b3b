/* The most frequent columns, held densely as bits, half bytes or codes: the same bits as by scattering. */
#include "support/check.h"

#include "core/core.h"
#include "ops/plan_object.h"
#include "support/compare.h"
#include "support/rng.h"

#include <stdlib.h>

/* 40 x 1100 with whole values 1 .. 15. */
static FtB_Matrix fifteen_ratings(rng *r, FtB_Type type)
{
    FtB_Matrix R = rng_matrix(r, type, 40, 1100, 1, 0.2);
    for (int64_t e = 0; e < R->pattern->nvals; e++) {
        double x = 1 + (double)rng_below(r, 15);
        ftb_cast((char *)matrix_values(R) + (size_t)e * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
    return R;
}

/* Counts, sums of ratings' products and looked-up messages. */
static void hot_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        FtB_Type type;
        ftb_hot_form form;
    } messages[] = {{"plus : 1", FTB_INT32, FTB_HOT_COUNTS},
                    {"plus : a * b", FTB_INT32, FTB_HOT_FACTORS},
                    {"plus : 3 * a * b / 8", FTB_INT32, FTB_HOT_FACTORS},
                    {"plus : (a - b) * (a - b)", FTB_INT32, FTB_HOT_LOOKUP},
                    {"plus : a / (a + b)", FTB_FP32, FTB_HOT_LOOKUP},
                    {"plus : a / b - 1", FTB_FP32, FTB_HOT_LOOKUP}};
    static const char *const sets[][2] = {{"512", "0"}, {"512", "1"}, {"1024", "0"}, {"1024", "1"}};
    rng r = rng_new();
    FtB_Matrix R[2] = {fifteen_ratings(&r, FTB_INT32), fifteen_ratings(&r, FTB_FP32)}, C, goal;
    for (int t = 0; t < rng_cases(96); t++) {
        int m = t / 16;
        FtB_Arg message = FTB_ARG(messages[m].text), ratings = FTB_ARG(R[messages[m].type == FTB_FP32]);
        FtB_Project_options options = {.size = sizeof options, .triangle = t % 2, .self_loops = t % 3 == 0};
        FtB_Plan plan;
        options.top_k = t % 16 > 11 ? 9 : 0;
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, 1100, 1100, 1));
        assert_ok(FtB_Matrix_new(&goal, FTB_FP64, 1100, 1100, 1));
        assert_ok((FtB_project_plan)(&plan, FTB_ARG(C), ratings, message, &options, FTB_ESTIMATE));
        options.plan = plan;
        assert_ok(FtB_Plan_set(plan, "hot", "0"));
        assert_ok(FtB_Plan_set(plan, "triangle", sets[t % 4][1]));
        assert_ok((FtB_project)(FTB_ARG(goal), ratings, message, &options));
        assert_ok(FtB_Plan_set(plan, "hot", sets[t % 4][0]));
        assert_ok(FtB_Plan_set(plan, "cross", t % 8 < 4 ? "0" : "1"));
        assert_int_equal(plan->plan.spgemm.hot, atoi(sets[t % 4][0]));
        assert_int_equal(plan->facts.spgemm.hot_form, messages[m].form);
        assert_int_equal(plan->plan.spgemm.cross, t % 8 >= 4);
        assert_ok((FtB_project)(FTB_ARG(C), ratings, message, &options));
        assert_same(C, goal);
        FtB_Plan_free(&plan);
        FtB_Matrix_free(&C);
        FtB_Matrix_free(&goal);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&R[0]);
    FtB_Matrix_free(&R[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hot_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
