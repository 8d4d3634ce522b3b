/* Sparse x sparse products under every alternative of the planner: the same bits from all of them, and the
 * right ones. Then the rule itself, on machines that are not there. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "plan/spgemm_plan.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define USERS 90
#define ITEMS 700 /* more than a line of hot columns */

/* A ratings matrix: values in {0.5, 1, ..., 5}, or many distinct ones. */
static FtB_Matrix ratings(rng *r, bool many_values)
{
    static int64_t I[USERS * ITEMS], J[USERS * ITEMS];
    static double X[USERS * ITEMS];
    int64_t n = 0;
    for (int64_t u = 0; u < USERS; u++)
        for (int64_t i = 0; i < ITEMS; i++)
            if (u % 11 != 5 && rng_below(r, 3 + i / 8) == 0) {
                I[n] = u;
                J[n] = (i * 37) % ITEMS;
                X[n++] = many_values ? rng_unit(r) : 0.5 * (double)(1 + rng_below(r, 10));
            }
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, USERS, ITEMS, 1, n, I, J, X, FTB_DUP_SUM, NULL));
    return A;
}

static const char *const weights[] = {
    "plus : 1",    "plus : a * b", "plus : a / (a + b)",   "plus : [1, a, b, a * b]",
    "min : a + b", "max : 1",      "plus : a * b + i - j", "mean : a"};
#define WEIGHTS ((int)(sizeof weights / sizeof weights[0]))

/* Message `w` of a product, component f. */
static double message(int w, int64_t f, double a, double b, int64_t i, int64_t j)
{
    switch (w) {
    case 1:
        return a * b;
    case 2:
        return a / (a + b);
    case 3:
        return f == 0 ? 1 : f == 1 ? a : f == 2 ? b : a * b;
    case 4:
        return a + b;
    case 6:
        return a * b + (double)i - (double)j;
    case 7:
        return a;
    default:
        return 1;
    }
}

/* Component f of C(i, j) by two nested loops over users; NaN where nothing is shared. */
static double expected(FtB_Matrix R, int w, int64_t f, int64_t i, int64_t j)
{
    double sum = NAN, count = 0;
    for (int64_t u = 0; u < USERS; u++) {
        double a = value_at(R, u, i, 0, NAN), b = value_at(R, u, j, 0, NAN);
        if (isnan(a) || isnan(b))
            continue;
        double z = message(w, f, a, b, i, j);
        count++;
        sum = isnan(sum) ? z : w == 4 ? fmin(sum, z) : w == 5 ? fmax(sum, z) : sum + z;
    }
    return w == 7 ? sum / count : sum;
}

static void check_entries(FtB_Matrix C, FtB_Matrix R, int w, rng *r)
{
    int64_t width;
    assert_ok(FtB_Matrix_shape(C, NULL, NULL, NULL, &width, NULL));
    for (int t = 0; t < 40; t++) {
        int64_t i = rng_below(r, ITEMS), j = rng_below(r, ITEMS);
        for (int64_t f = 0; f < width; f++) {
            double x = value_at(C, i, j, f, NAN), y = expected(R, w, f, i, j);
            assert_true((isnan(x) && isnan(y)) || fabs(x - y) <= 1e-12 * fmax(1, fabs(y)));
        }
    }
}

static FtB_Matrix project(FtB_Matrix R, int w, FtB_Plan plan, bool triangle)
{
    FtB_Matrix C;
    int64_t width = w == 3 ? 4 : 1;
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, ITEMS, ITEMS, width));
    assert_ok(FtB_project(C, R, weights[w],
                          FTB_PROJECT_OPTIONS(.self_loops = true, .plan = plan, .triangle = triangle)));
    return C;
}

/* Alternatives: up to two choices that are made by hand. */
static const char *const alternatives[][4] = {
    {"accumulator", "dense"},
    {"accumulator", "list"},
    {"accumulator", "hash"},
    {"relabel", "1", "ids", "16"},
    {"relabel", "1", "ids", "32"},
    {"relabel", "0", "ids", "16"},
    {"relabel", "0", "ids", "32"},
    {"triangle", "0"},
    {"triangle", "1", "mirror", "1"},
    {"hot", "512"},
    {"hot", "512", "accumulator", "dense"},
    {"hot", "512", "cross", "0"},
    {"hot", "512", "triangle", "1"},
    {"hot", "0"},
    {"chunk_rows", "1", "threads", "2"},
    {"chunk_rows", "7", "threads", "3"},
    {"chunk_bytes", "4096", "threads", "2"},
    {"threads", "2", "mirror", "1"},
};

/* A counting sink sees what a matrix holds. */
static void check_stats(FtB_Matrix R, int w, FtB_Plan plan, FtB_Matrix C, bool loops, bool triangle)
{
    FtB_Sink sink;
    FtB_Stats stats;
    const int64_t *rowptr;
    const void *colidx, *values;
    int64_t width, nvals = 0, rows = 0;
    double sum = 0, most = -INFINITY, least = INFINITY;
    assert_ok(FtB_Matrix_shape(C, NULL, NULL, NULL, &width, NULL));
    assert_ok(FtB_Matrix_csr(C, &rowptr, &colidx, &values));
    for (int64_t i = 0; i < ITEMS; i++) {
        int64_t before = nvals;
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            int64_t j = ((const int32_t *)colidx)[e];
            if ((triangle && j < i) || (!loops && j == i))
                continue;
            nvals++;
            for (int64_t f = 0; f < width; f++) {
                double x = ((const double *)values)[e * width + f];
                sum += x;
                most = fmax(most, x);
                least = fmin(least, x);
            }
        }
        rows += nvals > before;
    }
    assert_ok(FtB_Sink_stats(&sink));
    assert_ok(FtB_project(sink, R, weights[w],
                          FTB_PROJECT_OPTIONS(.self_loops = loops, .plan = plan, .triangle = triangle)));
    assert_ok(FtB_Sink_get_stats(sink, &stats));
    assert_int_equal(stats.nvals, nvals);
    assert_int_equal(stats.nonempty_rows, rows);
    assert_true(fabs(stats.sum - sum) <= 1e-9 * fmax(1, fabs(sum)));
    assert_true(fabs(stats.max - most) <= 0 && fabs(stats.min - least) <= 0);
    FtB_Sink_free(&sink);
}

static void every_alternative(void **state)
{
    (void)state;
    rng r = rng_new();
    int kernels[2] = {0, 0};
    assert_ok(FtB_Context_set_threads(NULL, 3));
    for (int many = 0; many < 2; many++) {
        FtB_Matrix R = ratings(&r, many);
        for (int w = 0; w < WEIGHTS; w++) {
            FtB_Matrix usual = project(R, w, NULL, false), half = project(R, w, NULL, true);
            check_entries(usual, R, w, &r);
            for (size_t a = 0; a < sizeof alternatives / sizeof alternatives[0]; a++) {
                FtB_Plan plan;
                double hot;
                assert_ok(FtB_project_plan(&plan, usual, R, weights[w],
                                           FTB_PROJECT_OPTIONS(.self_loops = true), FTB_ESTIMATE));
                for (int c = 0; c < 4 && alternatives[a][c]; c += 2)
                    assert_ok(FtB_Plan_set(plan, alternatives[a][c], alternatives[a][c + 1]));
                FtB_Matrix C = project(R, w, plan, false);
                assert_same(C, usual);
                check_stats(R, w, plan, usual, true, false);
                assert_ok(FtB_Plan_get(plan, "hot", &hot));
                kernels[0] += hot > 0;
                kernels[1]++;
                FtB_Matrix_free(&C);
                FtB_Plan_free(&plan);
            }
            for (int options = 0; options < 4; options++)
                check_stats(R, w, NULL, usual, options & 1, options & 2);
            for (int t = 0; t < 60; t++) { /* the triangle is the full product's upper half */
                int64_t i = rng_below(&r, ITEMS), j = rng_below(&r, ITEMS);
                double x = value_at(half, i, j, 0, NAN),
                       y = j >= i ? value_at(usual, i, j, 0, NAN) : (double)NAN;
                assert_true((isnan(x) && isnan(y)) || fabs(x - y) <= 0);
            }
            FtB_Matrix_free(&usual);
            FtB_Matrix_free(&half);
        }
        FtB_Matrix_free(&R);
    }
    assert_true(kernels[0] >=
                4 * 4 + 4); /* weights 0 and 5 count, 1 multiplies ratings: hot columns were used */
    assert_int_equal(kernels[1], 2 * WEIGHTS * (int)(sizeof alternatives / sizeof alternatives[0]));
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Hot columns without memory: an error, and nothing leaks. */
static GrB_Info call_hot(void *arg)
{
    static int64_t I[8 * 520], J[8 * 520];
    static float x[8 * 520];
    FtB_Matrix R = NULL, C = NULL;
    FtB_Plan plan = NULL;
    const char *const *weight = arg;
    double hot = 0;
    for (int64_t e = 0; e < 8 * 520; e++) {
        I[e] = e / 520;
        J[e] = e % 520;
        x[e] = (float)(1 + e % 5);
    }
    GrB_Info info = FtB_Matrix_build(&R, FTB_FP32, 8, 520, 1, 8 * 520, I, J, x, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&C, FTB_FP64, 520, 520, 1);
    if (info == GrB_SUCCESS)
        info = FtB_project_plan(&plan, C, R, *weight, FTB_PROJECT_OPTIONS(.triangle = true), FTB_ESTIMATE);
    if (info == GrB_SUCCESS)
        info = FtB_Plan_set(plan, "hot", "512");
    if (info == GrB_SUCCESS)
        info = FtB_project(C, R, *weight, FTB_PROJECT_OPTIONS(.triangle = true, .plan = plan));
    if (info == GrB_SUCCESS)
        assert_ok(FtB_Plan_get(plan, "hot", &hot));
    assert_true(info != GrB_SUCCESS || hot > 0);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
    return info;
}

static void hot_allocations(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w++) { /* counts, factors, look-ups */
        const char *weight = weights[w];
        fail_every_allocation(call_hot, NULL, &weight);
    }
}

/* Bits stay the same under a tight memory limit, which forbids retaining a triangle. */
static void limits(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix R = ratings(&r, false), usual = project(R, 2, NULL, false);
    FtB_Plan plan;
    double least;
    int64_t now;
    assert_ok(
        FtB_project_plan(&plan, usual, R, weights[2], FTB_PROJECT_OPTIONS(.self_loops = true), FTB_ESTIMATE));
    assert_ok(FtB_Plan_get(plan, "least_limit", &least));
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    int64_t result = 16 * ITEMS * ITEMS;
    assert_ok(FtB_Context_set_memory_limit(NULL, now + (int64_t)least + result));
    FtB_Matrix C = project(R, 2, NULL, false);
    assert_same(C, usual);
    FtB_Matrix_free(&C);
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    assert_ok(FtB_Context_set_memory_limit(NULL, now + 4096));
    FtB_Matrix_free(&C);
    FtB_Sink sink;
    assert_ok(FtB_Sink_stats(&sink));
    assert_fails(FTB_LIMIT, "", FtB_project(sink, R, weights[2], NULL));
    FtB_Sink_free(&sink);
    assert_ok(FtB_Context_set_memory_limit(NULL, 0));
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&usual);
}

/* Sums over a GraphBLAS semiring of a narrow domain wrap to it, also in a projection. */
static void narrow_domain(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 1, 1}, J[] = {0, 1, 0, 1};
    const int8_t X[] = {10, 12, 10, 9};
    FtB_Matrix R, C;
    FtB_Sink sink;
    FtB_Stats stats;
    assert_ok(FtB_Matrix_build(&R, FTB_INT8, 2, 2, 1, 4, I, J, X, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 2, 2, 1));
    assert_ok(FtB_project(C, R, GrB_PLUS_TIMES_SEMIRING_INT8, NULL));
    assert_true(fabs(value_at(C, 0, 1, 0, NAN) - (double)(int8_t)210) <= 0);
    assert_ok(FtB_Sink_stats(&sink));
    assert_ok(FtB_project(sink, R, GrB_PLUS_TIMES_SEMIRING_INT8, FTB_PROJECT_OPTIONS(.triangle = true)));
    assert_ok(FtB_Sink_get_stats(sink, &stats));
    assert_true(fabs(stats.sum - (double)(int8_t)210) <= 0);
    FtB_Sink_free(&sink);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
}

/* ---- the rule */

static const ftb_machine_facts machines[] = {
    {.cores = 2, .l1 = 32 << 10, .l2 = 512 << 10, .l3 = 32 << 20, .memory = INT64_C(24) << 30},
    {.cores = 64, .l1 = 48 << 10, .l2 = 2 << 20, .l3 = INT64_C(1) << 30, .memory = INT64_C(1) << 40},
    {.cores = 1, .l1 = 16 << 10, .l2 = 128 << 10, .l3 = 0, .memory = INT64_C(1) << 30},
};

static ftb_spgemm_facts movielens(void)
{
    return (ftb_spgemm_facts){.passing = 1,
                              .nrows = 26744,
                              .ncols = 26744,
                              .ninner = 138493,
                              .avals = 20000000,
                              .bvals = 20000000,
                              .products = 1.067e10,
                              .longest_row = 40000000,
                              .entries_bound = 4.57e8,
                              .entries_estimate = 2.4e8,
                              .self = true,
                              .symmetric = true,
                              .cell_bytes = 4,
                              .retained_bytes = 8,
                              .value_bytes = 8,
                              .index_bytes = 4,
                              .memory_left = INT64_MAX,
                              .threads = 2,
                              .kernel = "times_f32"};
}

static void rule_projection(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
        ftb_spgemm_facts f = movielens();
        ftb_spgemm_plan plan = {0};
        assert_true(ftb_rule_spgemm(&plan, &f, &machines[m]));
        assert_true(plan.relabel && plan.id16 && plan.triangle && plan.mirror);
        assert_int_equal(plan.accumulator, FTB_ACC_AUTO);
        f.memory_left = plan.bytes / 2; /* no room to retain the triangle */
        assert_true(ftb_rule_spgemm(&plan, &f, &machines[m]));
        assert_false(plan.triangle || plan.mirror);
        assert_true(plan.bytes <= f.memory_left);
        f.half_wanted = true; /* a triangle alone retains nothing */
        assert_true(ftb_rule_spgemm(&plan, &f, &machines[m]));
        assert_true(plan.triangle && !plan.mirror);
        f.memory_left = plan.least_limit - 1;
        assert_false(ftb_rule_spgemm(&plan, &f, &machines[m]));
    }
}

/* The processor's factor scales what is predicted, and changes nothing else; entries that a filter drops are
 * offered to no heap. */
static void rule_seconds(void **state)
{
    ftb_machine_facts machine = machines[0];
    ftb_spgemm_facts f = movielens();
    ftb_spgemm_plan plans[3] = {{0}};
    (void)state;
    f.top_k = 20;
    machine.calibrated = true;
    machine.costs = ftb_machine_costs(&machines[0]);
    for (int n = 0; n < 3; n++) {
        machine.costs.products = n == 1 ? 0.25 : 1;
        f.passing = n == 2 ? 0.5 : 1;
        assert_true(ftb_rule_spgemm(&plans[n], &f, &machine));
    }
    assert_true(fabs(plans[1].seconds / plans[0].seconds - 0.25) < 1e-9);
    assert_true(plans[2].seconds < plans[0].seconds);
    plans[1].seconds = plans[0].seconds;
    assert_memory_equal(&plans[1], &plans[0], sizeof plans[0]);
}

static void rule_sparse_rows(void **state)
{
    (void)state;
    ftb_spgemm_facts road = {.nrows = 24000000,
                             .ncols = 24000000,
                             .ninner = 24000000,
                             .avals = 58000000,
                             .bvals = 58000000,
                             .products = 1.5e8,
                             .longest_row = 80,
                             .entries_bound = 1.5e8,
                             .entries_estimate = -1,
                             .cell_bytes = 4,
                             .retained_bytes = 8,
                             .value_bytes = 8,
                             .index_bytes = 4,
                             .memory_left = INT64_MAX,
                             .threads = 2,
                             .kernel = "times_f32"};
    ftb_spgemm_plan plan = {0};
    assert_true(ftb_rule_spgemm(&plan, &road, &machines[0]));
    assert_true(plan.hash_rest && !plan.relabel && !plan.triangle && plan.hot == 0);
    road.masked = true;
    assert_true(ftb_rule_spgemm(&plan, &road, &machines[0]));
    assert_int_equal(plan.accumulator, FTB_ACC_SLOT);
}

static void rule_hot_columns(void **state)
{
    (void)state;
    ftb_spgemm_facts f = movielens();
    ftb_spgemm_plan plan = {0};
    f.kernel = "pair_u32";
    f.hot_form = FTB_HOT_COUNTS;
    const double shares[FTB_HOT_CHOICES] = {0.3, 0.5, 0.65, 0.8, 0.93};
    const double rest[FTB_HOT_CHOICES] = {0.5, 0.3, 0.15, 0.05, 0.01};
    memcpy(f.hot_share, shares, sizeof shares);
    memcpy(f.hot_entries, shares, sizeof shares);
    memcpy(f.cold_share, rest, sizeof rest);
    assert_true(ftb_rule_spgemm(&plan, &f, &machines[0]));
    assert_true(plan.hot >= 512 && plan.relabel && plan.cross);
    ftb_spgemm_plan own_names = {.forced = FTB_SET_RELABEL}; /* hot columns are named anew */
    assert_true(ftb_rule_spgemm(&own_names, &f, &machines[0]));
    assert_true(own_names.hot == 0 && !own_names.relabel);
    f.self = f.symmetric = false; /* nothing to count once for two */
    assert_true(ftb_rule_spgemm(&plan, &f, &machines[0]));
    assert_true(plan.hot >= 512 && !plan.cross);
    f.self = f.symmetric = true;
    f.hot_form = FTB_HOT_FACTORS; /* sums of ratings' products: dearer, yet less than scattering */
    f.kernel = "table_f32";
    assert_true(ftb_rule_spgemm(&plan, &f, &machines[0]));
    assert_true(plan.hot >= 512 && plan.cross);
    f.hot_form = FTB_HOT_LOOKUP; /* any message: where the instruction set has look-ups */
    f.hot_dual = true;
    f.hot_line = 20;
    assert_true(ftb_rule_spgemm(&plan, &f, &machines[0]));
    assert_true(plan.hot >= 512 && plan.cross && !plan.mirror);
    f.hot_line = 2000;
    assert_true(ftb_rule_spgemm(&plan, &f, &machines[0]));
    assert_true(plan.hot == 0 && plan.mirror);
    f.hot_form = FTB_HOT_FACTORS;
    f.hot_dual = false;
    const double flat[FTB_HOT_CHOICES] = {0.02, 0.04, 0.08, 0.16, 0.3}; /* nothing is hot */
    const double most[FTB_HOT_CHOICES] = {0.96, 0.92, 0.85, 0.71, 0.5};
    memcpy(f.hot_share, flat, sizeof flat);
    memcpy(f.hot_entries, flat, sizeof flat);
    memcpy(f.cold_share, most, sizeof most);
    assert_true(ftb_rule_spgemm(&plan, &f, &machines[0]));
    assert_int_equal(plan.hot, 0);
}

static void keys(void **state)
{
    (void)state;
    ftb_spgemm_plan plan = {0};
    assert_null(ftb_spgemm_plan_set(&plan, "accumulator", "hash"));
    assert_non_null(ftb_spgemm_plan_set(&plan, "accumulator", "heap"));
    assert_non_null(ftb_spgemm_plan_set(&plan, "ids", "8"));
    assert_non_null(ftb_spgemm_plan_set(&plan, "threads", "0"));
    assert_non_null(ftb_spgemm_plan_set(&plan, "threads", "2x"));
    assert_non_null(ftb_spgemm_plan_set(&plan, "hot", "100"));
    assert_non_null(ftb_spgemm_plan_set(&plan, "colour", "1"));
}

/* Counts have 32 bits while no cell can get 2^32 messages: parallel edges times parallel edges, planned
 * alone. */
static void counts_of_32_bits(void **state)
{
    static const int64_t sizes[][2] = {{65535, 65537}, {65536, 65536}, {1, 65537}, {70000, 70000}};
    const FtB_Descriptor descs[] = {NULL, FTB_DESC_T0, FTB_DESC_T1, FTB_DESC_T0T1};
    int64_t *zeros = calloc(70000, sizeof *zeros);
    (void)state;
    assert_non_null(zeros);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t d = 0; d < sizeof descs / sizeof *descs; d++) {
            FtB_Matrix A, B, C;
            FtB_Plan plan;
            assert_ok(
                FtB_Matrix_build(&A, FTB_BOOL, 1, 1, 0, sizes[s][0], zeros, zeros, NULL, FTB_DUP_KEEP, NULL));
            assert_ok(
                FtB_Matrix_build(&B, FTB_BOOL, 1, 1, 0, sizes[s][1], zeros, zeros, NULL, FTB_DUP_KEEP, NULL));
            assert_ok(FtB_Matrix_new(&C, FTB_INT64, 1, 1, 1));
            assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, "plus : 1", A, B, descs[d], FTB_ESTIMATE));
            const bool fits = sizes[s][0] * sizes[s][1] <= (int64_t)UINT32_MAX;
            assert_true(planned_figure(plan, "products") == (double)(sizes[s][0] * sizes[s][1]));
            if (planned_says(plan, "kernel pair_u32") != fits)
                fail_msg("%lld messages, descriptor %d: %s in 32 bits",
                         (long long)(sizes[s][0] * sizes[s][1]), (int)d, fits ? "not" : "counted");
            FtB_Plan_free(&plan);
            FtB_Matrix_free(&A);
            FtB_Matrix_free(&B);
            FtB_Matrix_free(&C);
        }
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_alternative),
        cmocka_unit_test(hot_allocations),
        cmocka_unit_test(limits),
        cmocka_unit_test(narrow_domain),
        cmocka_unit_test(counts_of_32_bits),
        cmocka_unit_test(rule_projection),
        cmocka_unit_test(rule_seconds),
        cmocka_unit_test(rule_sparse_rows),
        cmocka_unit_test(rule_hot_columns),
        cmocka_unit_test(keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
