/* No value of a message stands for "no message": patterns and values of sums whose messages are 0, -0,
 * infinite, NaN, or beyond the range of FP32, against plain loops, from every accumulator, with hot columns
 * and without, mirrored and in full.
 * Labels: property, serial */
#include "support/check.h"

#include "core/core.h"
#include "support/compare.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 24
#define COLS 530 /* more than a line of hot columns */

/* ---- operands: few distinct values, so that messages are tabulated, and their absence */

static const double values[][4] = {
    {0, -1, 0, -1},
    {0.0, -0.0, 0.5, -0.5},
    {0, 0.25, 0.75, 1},
    {1, 2, 3, 4},
    {-0.0, -0.0, -0.0, -0.0},
    {0, 0, 0, 0},
    {0, HUGE_VAL, -1, 2},
    {-HUGE_VAL, 0.5, -0.0, -0.5},
    {0x1p-80, -0x3p-80, 0x1p-79, 0},
    {0x1p70, 0x3p70, -0x1p70, 0x1p71},
};
#define SETS ((int)(sizeof values / sizeof *values))

/* Hubs among the columns: every column is in few rows, but the first ones in most. */
static FtB_Matrix ratings(rng *r, FtB_Type type, const double *set)
{
    static int64_t I[ROWS * COLS], J[ROWS * COLS];
    static double X[ROWS * COLS];
    int64_t n = 0;
    FtB_Matrix wide, R;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            if (rng_below(r, j < 40 ? 2 : 6) == 0) {
                I[n] = i;
                J[n] = j;
                X[n++] = set[rng_below(r, 4)];
            }
    assert_ok(FtB_Matrix_build(&wide, FTB_FP64, ROWS, COLS, 1, n, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&R, type, ROWS, COLS, 1));
    assert_ok(ftb_matrix_become(R, wide));
    return R;
}

/* ---- the oracle, in FP64 over messages that are made in the operands' type */

typedef struct weight {
    const char *text;
    int64_t width;
    bool mean;
    double (*message)(double a, double b, int64_t f, bool single);
} weight;

static double quotient(double a, double b, int64_t f, bool single)
{
    double z = single ? (double)((float)a / (float)b) : a / b;
    return f == 0 ? z : a;
}
static double entropy(double a, double b, int64_t f, bool single)
{
    (void)f;
    return single ? (double)((float)a * logf((float)b)) : a * log(b);
}
static double product_of(double a, double b, int64_t f, bool single)
{
    double z = single ? (double)((float)a * (float)b) : a * b;
    return f == 0 ? z : a;
}
static double negated(double a, double b, int64_t f, bool single)
{
    (void)single;
    (void)b;
    return f == 0 ? -a : b;
}

static const weight weights[] = {
    {"plus : a / b", 1, false, quotient},   {"plus : a * log(b)", 1, false, entropy},
    {"plus : a * b", 1, false, product_of}, {"plus : [a / b, a]", 2, false, quotient},
    {"plus : -a", 1, false, negated},       {"plus : [-a, b]", 2, false, negated},
    {"mean : a / b", 1, true, quotient},    {"plus : [a * b, a]", 2, false, product_of},
};
#define WEIGHTS ((int)(sizeof weights / sizeof *weights))

static void check_entry(FtB_Matrix C, FtB_Matrix R, const weight *w, int64_t i, int64_t j, const char *what)
{
    bool single = R->type == FTB_FP32;
    double sum[2] = {0, 0}, size[2] = {0, 0}, count = 0;
    for (int64_t u = 0; u < ROWS; u++) {
        double a = value_at(R, u, i, 0, 1e300), b = value_at(R, u, j, 0, 1e300);
        if (a == 1e300 || b == 1e300)
            continue;
        count++;
        for (int64_t f = 0; f < w->width; f++) {
            double z = w->message(a, b, f, single);
            sum[f] += z;
            size[f] += fabs(z);
        }
    }
    for (int64_t f = 0; f < w->width; f++) {
        double got = value_at(C, i, j, f, 1e300), want = w->mean ? sum[f] / count : sum[f];
        bool beyond = single && size[f] > 3e38; /* FP32 may leave its range on the way */
        double slack = (single ? 1e-5 : 1e-12) * size[f] + (single ? 1e-44 : 0);
        if (count == 0 ? got == 1e300
                       : beyond || got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= slack)
            continue;
        fail_msg("%s, %s: (%d, %d)[%d] is %g; expected %g from %g messages", what, w->text, (int)i, (int)j,
                 (int)f, got, want, count);
    }
}

/* ---- every way to run */

static const char *const plans[][6] = {
    {"hot", "0"},
    {"accumulator", "dense", "hot", "0", "relabel", "1"},
    {"accumulator", "list", "hot", "0"},
    {"accumulator", "hash", "hot", "0"},
    {"hot", "512", "cross", "0", "accumulator", "dense"},
    {"hot", "512", "cross", "1", "accumulator", "dense"},
    {"triangle", "1", "mirror", "1", "hot", "0"},
    {"triangle", "0", "hot", "0", "ids", "32"},
};
#define PLANS ((int)(sizeof plans / sizeof *plans))

static void every_value(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int s = 0; s < SETS; s++)
        for (int t = 0; t < 2; t++) {
            FtB_Type type = t ? FTB_FP32 : FTB_FP64;
            FtB_Matrix R = ratings(&r, type, values[s]);
            for (int w = 0; w < WEIGHTS; w++)
                for (int p = (s + t + w) % 2; p < PLANS; p += 2) {
                    char what[160];
                    FtB_Matrix C;
                    FtB_Plan plan;
                    assert_ok(FtB_Context_set_threads(NULL, 1 + (p + w) % 3));
                    assert_ok(FtB_Matrix_new(&C, type, COLS, COLS, weights[w].width));
                    assert_ok(FtB_project_plan(&plan, C, R, weights[w].text,
                                               FTB_PROJECT_OPTIONS(.self_loops = true), FTB_ESTIMATE));
                    for (int k = 0; k < 6 && plans[p][k]; k += 2)
                        assert_ok(FtB_Plan_set(plan, plans[p][k], plans[p][k + 1]));
                    assert_ok(FtB_project(C, R, weights[w].text,
                                          FTB_PROJECT_OPTIONS(.self_loops = true, .plan = plan)));
                    snprintf(what, sizeof what, "values %d, %s, plan %d", s, FtB_Type_name(type), p);
                    for (int n = 0; n < 80; n++)
                        check_entry(C, R, &weights[w], rng_below(&r, COLS), rng_below(&r, COLS), what);
                    FtB_Plan_free(&plan);
                    FtB_Matrix_free(&C);
                }
            FtB_Matrix_free(&R);
        }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_value)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
