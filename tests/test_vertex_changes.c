/* Runs of vertex programs: what changes and what stays. Fields that are settled, vertices that receive
 * nothing, NaN, and who waits for a priority. */
#include "support/check.h"

#include "featblas_vertex.h"

#include "support/vertex_graphs.h"

#include <math.h>

/* ---- settled: comparisons of a field with a number are looked at without the text */

enum { LEAVES = 150 };

static bool compares(double x, int op, double c)
{
    const bool is[] = {x<c, x <= c, x> c, x >= c, x == c, x != c};
    return is[op];
}

/* As one of the values, or all of them, are stored. */
static double stored(FtB_Type type, double value) { return type == FTB_FP32 ? (double)(float)value : value; }

static void store(FtB_Block X, FtB_Type type, int64_t v, double value)
{
    void *at = (void *)(uintptr_t)block_values(X);
    if (type == FTB_FP32)
        ((float *)at)[v] = (float)value;
    else if (type == FTB_FP64)
        ((double *)at)[v] = value;
    else if (type == FTB_INT32)
        ((int32_t *)at)[v] = (int32_t)value;
    else if (type == FTB_INT64)
        ((int64_t *)at)[v] = (int64_t)value;
    else
        ((int8_t *)at)[v] = (int8_t)value;
}

/* Vertex 0 sends to all, once: hit of those that apply becomes 1. */
static void settle(FtB_Block X, FtB_Block hit, FtB_Matrix A, const char *text, const char *combine,
                   FtB_Way way, FtB_Appliers applies)
{
    FtB_Program program;
    const FtB_Program_texts texts = {.size = sizeof texts,
                                     .send = "id",
                                     .combine = combine,
                                     .apply = "hit = hit + 1",
                                     .settled = text,
                                     .applies = applies,
                                     .rounds = 1};
    const int64_t zero = 0;
    memset((void *)(uintptr_t)block_values(hit), 0, LEAVES * sizeof(int32_t));
    assert_ok(FtB_Block_changed(hit));
    assert_ok(FtB_Program_new(&program, &texts));
    assert_ok(
        FtB_run(program, A, FTB_STATE("x", X, "hit", hit), FTB_RUN_OPTIONS(.start = {&zero, 1}, .way = way)));
    FtB_Program_free(&program);
}

static void settled(void **state)
{
    (void)state;
    static const FtB_Type types[] = {FTB_INT32, FTB_INT64, FTB_FP32, FTB_FP64, FTB_INT8};
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!="};
    static const char *const numbers[] = {"-1", "0", "2", "0.1", "-inf", "inf", "1e300"};
    static const double values[] = {-1, 0, 2, 0.1, -(double)INFINITY, (double)INFINITY, 1e300};
    static const double reals[] = {-1,         0, -0.0, 0.1, 2, 1e-4, (double)INFINITY, -(double)INFINITY,
                                   (double)NAN};
    static const char *const combines[] = {"min : message", "max : message", "plus : message"};
    int64_t from[LEAVES] = {0}, to[LEAVES];
    FtB_Matrix A;
    FtB_Block hit, X;
    for (int e = 0; e < LEAVES; e++)
        to[e] = e;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, LEAVES, LEAVES, 0, LEAVES, from, to, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&hit, LEAVES, 1, FTB_INT32));
    for (int c = 0; c < 5 * 7 * 6 * 2; c++) {
        const int number = c / 5 % 7, op = c / 35 % 6, turned = c / 210;
        const FtB_Type type = types[c % 5];
        const bool real = type == FTB_FP32 || type == FTB_FP64, exact = number == 6;
        const double bound = exact ? values[number] : stored(type, values[number]);
        const FtB_Way way = c % 2 ? FTB_WAY_PUSH : FTB_WAY_PULL;
        char text[80];
        assert_ok(FtB_Block_new(&X, LEAVES, 1, type));
        for (int v = 0; v < LEAVES; v++)
            store(X, type, v, real ? reals[v % 9] : v % 7 - 3);
        snprintf(text, sizeof text, "%s %s %s", turned ? numbers[number] : "x", operators[op],
                 turned ? "x" : numbers[number]);
        for (int k = 0; k < 3; k++) {
            settle(X, hit, A, text, combines[k], way, c % 3 ? FTB_APPLY_DEFAULT : FTB_APPLY_ALL);
            for (int v = 0; v < LEAVES; v++) {
                const double x = real ? stored(type, reals[v % 9]) : v % 7 - 3;
                const bool is = turned ? compares(bound, op, x) : compares(x, op, bound);
                if (((const int32_t *)block_values(hit))[v] != !is)
                    fail_msg("%s of %s, %s: vertex %d, %g", text, FtB_Type_name(type), combines[k], v, x);
            }
        }
        FtB_Block_free(&X);
    }
    FtB_Block_free(&hit);
    FtB_Matrix_free(&A);
}

/* ---- what stays, and what nothing is */

/* Nobody sends to vertex 0: it receives the identity, whatever loop has the message and whatever of it is
 * moved behind the reduction, which would make something else of the identity there. */
static void who_receives_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *combine;
        double x, identity; /* x: of vertex 0 */
    } rows[] = {{"min : message", 0, (double)INFINITY},
                {"max : message", 0, -(double)INFINITY},
                {"plus : message", 1, 0},
                {"min : message + dst.x", -(double)INFINITY, (double)INFINITY},
                {"max : message + dst.x", (double)INFINITY, -(double)INFINITY},
                {"plus : message * dst.x", (double)INFINITY, 0},
                {"plus : 3 * message * edge", 1, 0},
                {"min : abs(message - dst.x * edge)", 2, (double)INFINITY},
                {"max : message < dst.x ? message * edge : exp(dst.x)", 2, -(double)INFINITY}};
    static const FtB_Type types[] = {FTB_FP32, FTB_FP64};
    static const FtB_Way ways[] = {FTB_WAY_AUTO, FTB_WAY_SLICES, FTB_WAY_PULL};
    enum { N = 5 };
    FtB_Matrix A = path(N);
    FtB_Block got;
    assert_ok(FtB_Block_new(&got, N, 1, FTB_FP64));
    for (size_t c = 0; c < sizeof rows / sizeof *rows * 6; c++) {
        const size_t row = c / 6;
        FtB_Program program;
        FtB_Block X;
        assert_ok(FtB_Block_new(&X, N, 1, types[c % 2]));
        for (int v = 0; v < N; v++)
            store(X, types[c % 2], v, v == 0 ? rows[row].x : v);
        assert_ok(FtB_Program_new(&program, FTB_PROGRAM(.send = "x", .combine = rows[row].combine,
                                                        .apply = "got = received", .applies = FTB_APPLY_ALL,
                                                        .rounds = 1)));
        assert_ok(FtB_run(program, A, FTB_STATE("x", X, "got", got), FTB_RUN_OPTIONS(.way = ways[c % 3])));
        if (*(const double *)block_values(got) != rows[row].identity)
            fail_msg("%s: %g", rows[row].combine, *(const double *)block_values(got));
        FtB_Program_free(&program);
        FtB_Block_free(&X);
    }
    FtB_Block_free(&got);
    FtB_Matrix_free(&A);
}

/* NaN is NaN: nothing changes, and its bits stay, though apply makes others. */
static void nan_stays(void **state)
{
    (void)state;
    static const uint32_t few = 0x7fc00123;
    static const uint64_t wide = 0x7ff8000000000123;
    enum { N = 70 };
    FtB_Matrix A = path(N);
    for (int c = 0; c < 2 * 2 * 3 * 2; c++) {
        const FtB_Type type = c % 2 ? FTB_FP32 : FTB_FP64;
        const int64_t ncols = 1 + c / 2 % 2;
        const char *const active = c / 4 % 3 == 1 ? "changed" : NULL, *const until = c / 4 % 3 == 2
                                                                                         ? "sum(changed) < 0"
                                                                                         : NULL;
        int64_t supersteps = 0;
        FtB_Program program;
        FtB_Block X;
        assert_ok(FtB_Block_new(&X, N, ncols, type));
        void *x = (void *)(uintptr_t)block_values(X);
        for (int64_t t = 0; t < N * ncols; t++)
            memcpy((char *)x + (size_t)t * FtB_Type_size(type), type == FTB_FP32 ? (const void *)&few : &wide,
                   FtB_Type_size(type));
        assert_ok(FtB_Program_new(
            &program, FTB_PROGRAM(.send = "x", .combine = "min : message",
                                  .apply = "x = inf - inf + 0 * received", .active = active, .until = until,
                                  .rounds = 3, .applies = c < 12 ? FTB_APPLY_ALL : FTB_APPLY_RECEIVERS)));
        assert_ok(FtB_run(program, A, FTB_STATE("x", X), FTB_RUN_OPTIONS(.supersteps = &supersteps)));
        assert_int_equal(supersteps, 1);
        x = (void *)(uintptr_t)block_values(X);
        for (int64_t t = 0; t < N * ncols; t++)
            assert_memory_equal((char *)x + (size_t)t * FtB_Type_size(type),
                                type == FTB_FP32 ? (const void *)&few : &wide, FtB_Type_size(type));
        FtB_Program_free(&program);
        FtB_Block_free(&X);
    }
    FtB_Matrix_free(&A);
}

/* ---- priorities */

/* 0 -> 1 -> 2 -> 3. Vertex 1 waits, gets another value and is not active by that: it is before 2 then, far
 * below all that has been. */
static void waiting_is_active(void **state)
{
    (void)state;
    static const int64_t start[] = {0, 1, 2};
    static const double expected[3][4] = {{0, -50, 5, 7}, {0, -50, -100, 7}, {0, -50, -100, -150}};
    FtB_Matrix A = path(4);
    FtB_Block X;
    FtB_Program program;
    FtB_Run run;
    FtB_Superstep about;
    bool more = true;
    double x[] = {0, 10, 5, 7};
    assert_ok(FtB_Block_wrap(&X, x, 4, 1, 1, FTB_FP64));
    assert_ok(FtB_Program_new(&program, FTB_PROGRAM(.send = "x", .combine = "min : message - 50",
                                                    .apply = "x = min(x, received)", .active = "new.x > 1e9",
                                                    .priority = "x", .delta = 1e-3)));
    assert_ok(FtB_Run_new(&run, program, A, FTB_STATE("x", X), FTB_RUN_OPTIONS(.start = {start, 3})));
    for (int s = 0; s < 3; s++) {
        assert_true(more);
        assert_ok(FtB_Run_step(run, &more));
        assert_ok(FtB_Run_about(run, &about));
        assert_memory_equal(x, expected[s], sizeof x);
        assert_true(about.active == 1 && about.edges == 1 && about.next == 2 - s);
    }
    assert_false(more);
    FtB_Run_free(&run);
    FtB_Program_free(&program);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settled), cmocka_unit_test(who_receives_nothing),
                                       cmocka_unit_test(nan_stays), cmocka_unit_test(waiting_is_active)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
