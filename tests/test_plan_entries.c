/* Entries that a plan announces: on small operands every row is sampled, so that the estimate is the number
 * that is delivered, whatever triangle, top-k, masks and filters over vertices leave, and the bound is none
 * below it. */
#include "support/check.h"
#include "support/compare.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double figure(FtB_Plan plan, const char *key)
{
    double value;
    assert_ok(FtB_Plan_get(plan, key, &value));
    return value;
}

static void check_plan(FtB_Plan plan, int64_t entries, const char *what)
{
    double estimate = figure(plan, "entries_estimate"), bound = figure(plan, "entries_bound");
    if (bound < (double)entries || (figure(plan, "products") > 0 && llround(estimate) != entries))
        fail_msg("%s: %lld entries, estimated %.17g, at most %.17g", what, (long long)entries, estimate,
                 bound);
    assert_true(figure(plan, "entries_error") <= 0);
}

static int64_t *some_vertices(rng *r, int64_t n, int64_t *count)
{
    int64_t *list = malloc((size_t)n * sizeof *list);
    assert_non_null(list);
    *count = rng_below(r, n + 1);
    for (int64_t t = 0; t < *count; t++)
        list[t] = rng_below(r, n);
    return list;
}

static void projection(rng *r)
{
    FtB_Matrix R = rng_matrix(r, FTB_INT32, 1 + rng_below(r, 30), 1 + rng_below(r, 90), 1, 0.3 * rng_unit(r)),
               C;
    FtB_Plan plan;
    int64_t nrows, ncols, nvals;
    FtB_Matrix_shape(R, &nrows, &ncols, NULL, NULL, NULL);
    FtB_Project_options o = {.size = sizeof o, .onto = rng_below(r, 2) ? FTB_COLS : FTB_ROWS};
    int64_t n = o.onto == FTB_COLS ? ncols : nrows;
    int64_t *sources = some_vertices(r, n, &o.nsources), *targets = some_vertices(r, n, &o.ntargets);
    o.self_loops = rng_below(r, 2);
    o.triangle = rng_below(r, 2);
    o.top_k = rng_below(r, 2) ? 1 + rng_below(r, 5) : 0;
    o.min_degree = rng_below(r, 3);
    o.max_degree = rng_below(r, 2) ? 2 + rng_below(r, 9) : 0;
    o.sources = rng_below(r, 3) ? NULL : sources;
    o.targets = rng_below(r, 3) ? NULL : targets;
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, n, n, 1));
    assert_ok(FtB_project_plan(&plan, C, R, rng_below(r, 2) ? "count" : "w1", &o, FTB_ESTIMATE));
    assert_ok(FtB_project(C, R, rng_below(r, 2) ? "count" : "dot", &o));
    FtB_Matrix_shape(C, NULL, NULL, &nvals, NULL, NULL);
    char what[128];
    snprintf(what, sizeof what, "triangle %d, top %d, loops %d, degrees %d to %d, %d sources, %d targets",
             o.triangle, (int)o.top_k, o.self_loops, (int)o.min_degree, (int)o.max_degree,
             o.sources ? (int)o.nsources : -1, o.targets ? (int)o.ntargets : -1);
    check_plan(plan, nvals, what);
    free(sources);
    free(targets);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
}

static void product(rng *r)
{
    int64_t m = 1 + rng_below(r, 40), k = 1 + rng_below(r, 20), n = 1 + rng_below(r, 200), nvals;
    FtB_Matrix A = rng_matrix(r, FTB_FP32, m, k, 1, 0.3), B = rng_matrix(r, FTB_FP64, k, n, 0, 0.2);
    FtB_Matrix M = rng_matrix(r, FTB_INT8, m, n, 1, 0.3), C;
    FtB_Descriptor desc = rng_below(r, 2) ? FTB_DESC_RS : FTB_DESC_R;
    bool masked = rng_below(r, 2);
    FtB_Plan plan;
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, m, n, 1));
    assert_ok(FtB_mxm_plan(&plan, C, masked ? M : NULL, NULL, "plus : a * b", A, B, desc, FTB_ESTIMATE));
    assert_ok(FtB_mxm(C, masked ? M : NULL, NULL, "plus : a * b", A, B, desc));
    FtB_Matrix_shape(C, NULL, NULL, &nvals, NULL, NULL);
    check_plan(plan, nvals, masked ? "masked product" : "product");
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&M);
    FtB_Matrix_free(&C);
}

static void projections(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 600; t++)
        projection(&r);
}

static void products(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 200; t++)
        product(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections),
        cmocka_unit_test(products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
