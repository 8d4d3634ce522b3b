/* Random texts of semirings: each is compiled, run and differentiated, or refused with a message; nothing
 * leaks, and where values are finite and smooth the gradients, all at once along one direction, are what two
 * products in FP64 say. FEATBLAS_CASES=n tries n texts, FEATBLAS_SEED=n others. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CASES rng_cases(400)

enum { NROWS = 6, NCOLS = 5, WIDTH = 3, ROOM = 4096, NAMES = 5 };

static const char *const names[NAMES] = {"src", "edge", "norm", "W", "own"};

typedef struct scene {
    FtB_Matrix A;
    FtB_Block block[NAMES], step[NAMES],
        slope[NAMES]; /* values, a direction, gradients; "edge": values of A */
    FtB_Block dC, saved;
} scene;

/* ---- texts */

static const char *const
    leaves[] = {"src", "edge", "norm[i]", "norm[k]", "own", "0.5", "2", "src", "(src @ W)", "i", "e", "1e3"},
    *const unary[] = {"tanh(%s)",  "exp(%s)",  "sigmoid(%s)", "sqrt(%s)",  "log(%s)",   "-%s",
                      "relu(%s)",  "abs(%s)",  "sum(%s)",     "mean(%s)",  "log1p(%s)", "step(%s)",
                      "floor(%s)", "fp64(%s)", "%s[0]",       "int32(%s)", "!%s"},
    *const binary[] = {"%s + %s",         "%s - %s",     "%s * %s",     "%s / (1.5 + %s)",
                       "min(%s, %s)",     "max(%s, %s)", "dot(%s, %s)", "leaky_relu(%s, 0.2) * %s",
                       "pow(%s, %s)",     "%s / %s",     "%s > %s",     "[%s, %s]",
                       "elu(%s, 1) - %s", "%s && %s",    "idiv(%s, %s)"},
    *const ternary[] = {"%s > %s ? %s : 0.25", "(%s ? %s : %s)"};

static void write_text(rng *r, int depth, char *out)
{
    char kid[3][ROOM / 4];
    if (depth == 0 || rng_below(r, 6) == 0) {
        strcpy(out, leaves[rng_below(r, sizeof leaves / sizeof *leaves)]);
        return;
    }
    const int64_t kind = rng_below(r, 8);
    for (int k = 0; k < 3; k++) {
        kid[k][0] = '(';
        write_text(r, depth - 1, kid[k] + 1);
        strcat(kid[k], ")");
        kid[k][ROOM / 4 - 1] = '\0';
        if (kind < 3)
            k = 3; /* one is enough */
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (kind < 3)
        snprintf(out, ROOM / 4 - 4, unary[rng_below(r, sizeof unary / sizeof *unary)], kid[0]);
    else if (kind < 7)
        snprintf(out, ROOM / 4 - 4, binary[rng_below(r, sizeof binary / sizeof *binary)], kid[0], kid[1]);
    else
        snprintf(out, ROOM / 4 - 4, ternary[rng_below(r, 2)], kid[0], kid[1], kid[2]);
#pragma GCC diagnostic pop
}

/* A text, of which one in ten is damaged. */
static void some_text(rng *r, char *text)
{
    static const char *const reducers[] = {"plus", "plus", "mean", "max", "min", "any", "times", "or"};
    static const char pieces[] = "()[]@?:,+-*/<>=!&|. 0123456789eiksrcdtWn";
    char message[ROOM / 4];
    write_text(r, 1 + (int)rng_below(r, 3), message);
    snprintf(text, ROOM, "%s : %s", reducers[rng_below(r, 8)], message);
    for (int64_t n = rng_below(r, 10) == 0 ? 1 + rng_below(r, 4) : 0; n > 0; n--)
        text[rng_below(r, (int64_t)strlen(text))] = pieces[rng_below(r, sizeof pieces - 1)];
}

/* ---- running */

static double *values_of(FtB_Block X)
{
    void *data;
    assert_ok(FtB_Block_shape(X, NULL, NULL, NULL, NULL, &data));
    return data;
}

static int64_t count_of(FtB_Block X)
{
    int64_t nrows, ncols;
    assert_ok(FtB_Block_shape(X, &nrows, &ncols, NULL, NULL, NULL));
    return nrows * ncols;
}

static void fill(rng *r, FtB_Block X, double from, double to)
{
    for (int64_t k = 0; k < count_of(X); k++)
        values_of(X)[k] = from + (to - from) * rng_unit(r);
}

static void make(scene *s, rng *r)
{
    *s = (scene){.A = rng_matrix(r, FTB_FP64, NROWS, NCOLS, 1, 0.5)};
    int64_t nvals;
    assert_ok(FtB_Matrix_shape(s->A, NULL, NULL, &nvals, NULL, NULL));
    const int64_t shapes[NAMES][2] = {{NCOLS, WIDTH}, {nvals, 1}, {NROWS, 1}, {WIDTH, 2}, {1, WIDTH}};
    for (int n = 0; n < NAMES; n++) {
        if (n == 1)
            assert_ok(FtB_Matrix_values(&s->block[n], s->A));
        else
            assert_ok(FtB_Block_new(&s->block[n], shapes[n][0], shapes[n][1], FTB_FP64));
        assert_ok(FtB_Block_new(&s->step[n], shapes[n][0], shapes[n][1], FTB_FP64));
        assert_ok(FtB_Block_new(&s->slope[n], shapes[n][0], shapes[n][1], FTB_FP64));
        fill(r, s->block[n], 0.3, 1.3);
        fill(r, s->step[n], -1, 1);
    }
}

static void release(scene *s)
{
    for (int n = 0; n < NAMES; n++) {
        FtB_Block_free(&s->block[n]);
        FtB_Block_free(&s->step[n]);
        FtB_Block_free(&s->slope[n]);
    }
    FtB_Matrix_free(&s->A);
}

static void clean(GrB_Info info, const char *text)
{
    if (info != GrB_SUCCESS && !*FtB_error())
        fail_msg("%s: %d without a message", text, (int)info);
    if (info == GrB_PANIC || info == GrB_OUT_OF_MEMORY)
        fail_msg("%s: %d, %s", text, (int)info, FtB_error());
}

/* sum of dC .* (A (x) src), with what is bound read again; NaN where it is refused. */
static double objective(const scene *s, FtB_Semiring bound, FtB_Block C, FtB_Block dC)
{
    double sum = 0;
    if (FtB_mxm(C, NULL, NULL, bound, s->A, s->block[0], NULL) != GrB_SUCCESS)
        return NAN;
    for (int64_t k = 0; k < count_of(C); k++)
        sum += values_of(C)[k] * values_of(dC)[k];
    return sum;
}

static void move(const scene *s, double by)
{
    for (int n = 0; n < NAMES; n++)
        for (int64_t k = 0; k < count_of(s->block[n]); k++)
            values_of(s->block[n])[k] += by * values_of(s->step[n])[k];
    FtB_Matrix_changed(s->A);
    for (int n = 0; n < NAMES; n++)
        if (n != 1)
            FtB_Block_changed(s->block[n]);
}

/* The derivative along the steps. */
static double along(const scene *s, FtB_Semiring bound, FtB_Block C, FtB_Block dC, double step)
{
    move(s, step);
    const double more = objective(s, bound, C, dC);
    move(s, -2 * step);
    const double less = objective(s, bound, C, dC);
    move(s, step);
    return (more - less) / (2 * step);
}

static bool near(double got, double want) { return fabs(got - want) <= 1e-4 * (1 + fabs(got) + fabs(want)); }

static int compared, infinite;

static void check_gradients(const scene *s, const char *text, FtB_Semiring bound, FtB_Block C, FtB_Block dC)
{
    FtB_Gradient asked[NAMES];
    size_t count = 0;
    double got = 0;
    for (int n = 0; n < NAMES; n++)
        if (strstr(strchr(text, ':'), names[n]))
            asked[count++] = (FtB_Gradient){names[n], FTB_ARG(s->slope[n]), false};
    for (int n = 0; n < NAMES; n++)
        for (int64_t k = 0; k < count_of(s->slope[n]); k++)
            values_of(s->slope[n])[k] = 0;
    const GrB_Info info = (FtB_mxm_grad)(FTB_ARG(dC), FTB_ARG(bound), FTB_ARG(s->A), FTB_ARG(s->block[0]),
                                         FtB_Arg_none(), FtB_Arg_none(), asked, count, FtB_Arg_none());
    clean(info, text);
    if (info != GrB_SUCCESS || strncmp(text, "max", 3) == 0 || strncmp(text, "min", 3) == 0)
        return;
    for (int n = 0; n < NAMES; n++)
        for (int64_t k = 0; k < count_of(s->slope[n]); k++)
            got += values_of(s->slope[n])[k] * values_of(s->step[n])[k];
    const double f = objective(s, bound, C, dC), coarse = along(s, bound, C, dC, 1e-5),
                 fine = along(s, bound, C, dC, 1e-6);
    if (!isfinite(f) || fabs(f) > 1e4 || !near(coarse, fine) || fabs(coarse) > 1e5)
        return;       /* a kink, a jump, or too large for differences */
    if (isnan(got)) { /* 0 times a slope or a value that is infinite, somewhere inside */
        infinite++;
        return;
    }
    compared++;
    if (!near(got, fine) && !near(got, along(s, bound, C, dC, 1e-7)))
        fail_msg("%s: gradients give %.9g along the step; differences %.9g", text, got, fine);
}

/* Every width that the text could have. */
static int try_text(const scene *s, rng *r, const char *text)
{
    FtB_Semiring semiring, bound = NULL;
    int runs = 0;
    GrB_Info info = FtB_Semiring_new(&semiring, text);
    clean(info, text);
    if (info != GrB_SUCCESS)
        return 0;
    FtB_Binding bindings[3];
    size_t count = 0;
    for (int n = 2; n < NAMES; n++)
        if (strstr(text, names[n]))
            bindings[count++] = (FtB_Binding){names[n], FTB_ARG(s->block[n])};
    info = (FtB_Semiring_bind)(&bound, semiring, bindings, count);
    clean(info, text);
    for (int64_t width = 1; info == GrB_SUCCESS && width <= 2 * WIDTH; width++) {
        FtB_Block C, dC;
        assert_ok(FtB_Block_new(&C, NROWS, width, FTB_FP64));
        assert_ok(FtB_Block_new(&dC, NROWS, width, FTB_FP64));
        fill(r, dC, 0.5, 1.5);
        const GrB_Info ran = FtB_mxm(C, NULL, NULL, bound, s->A, s->block[0], NULL);
        clean(ran, text);
        runs += ran == GrB_SUCCESS;
        if (ran == GrB_SUCCESS)
            check_gradients(s, text, bound, C, dC);
        FtB_Block_free(&C);
        FtB_Block_free(&dC);
    }
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&semiring);
    return runs > 0;
}

static void random_texts(void **state)
{
    static char text[ROOM];
    const int cases = CASES;
    int ran = 0;
    (void)state;
    for (int number = 0; number < cases; number++) {
        rng r = rng_case(number);
        scene s;
        int64_t before, after;
        FtB_Context_memory(NULL, &before, NULL);
        make(&s, &r);
        some_text(&r, text);
        ran += try_text(&s, &r, text);
        release(&s);
        FtB_Context_memory(NULL, &after, NULL);
        if (before != after)
            fail_msg("%s: %lld bytes leaked", text, (long long)(after - before));
    }
    print_message("%d of %d texts ran, %d gradients were compared\n", ran, cases, compared);
    assert_true(ran > cases / 10 && compared > cases / 20 && infinite <= 5 + compared / 50);
}

/* 0 to the y has slope 0 by y, not 0 times log 0. */
static void powers_of_zero(void **state)
{
    rng r = rng_new();
    scene s;
    FtB_Block C, dC;
    FtB_Semiring semiring;
    (void)state;
    make(&s, &r);
    assert_ok(FtB_Block_new(&C, NROWS, WIDTH, FTB_FP64));
    assert_ok(FtB_Block_new(&dC, NROWS, WIDTH, FTB_FP64));
    fill(&r, dC, 0.5, 1.5);
    assert_ok(FtB_Semiring_new(&semiring, "plus : pow(i, src)"));
    const FtB_Gradient asked = {"src", FTB_ARG(s.slope[0]), false};
    assert_ok((FtB_mxm_grad)(FTB_ARG(dC), FTB_ARG(semiring), FTB_ARG(s.A), FTB_ARG(s.block[0]),
                             FtB_Arg_none(), FtB_Arg_none(), &asked, 1, FtB_Arg_none()));
    for (int64_t k = 0; k < count_of(s.slope[0]); k++)
        assert_true(isfinite(values_of(s.slope[0])[k]));
    const int before = compared;
    check_gradients(&s, "plus : pow(i, src)", semiring, C, dC);
    assert_int_equal(compared, before + 1);
    FtB_Semiring_free(&semiring);
    FtB_Block_free(&C);
    FtB_Block_free(&dC);
    release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(powers_of_zero), cmocka_unit_test(random_texts)};
    live_allocations(); /* pairs every allocation with its release */
    FtB_Context_set_memory_limit(NULL, 64 << 20);
    FtB_Context_set_threads(NULL, 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
