/* Scores leaky_relu(src + dst) on edges, and their gradients, against loops: any number of heads, both types,
 * views, hubs, empty rows and columns, NaN and infinities; the same bits for every instruction set and number
 * of threads. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define NROWS 60
#define NCOLS 170

static const int64_t head_counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16};
enum { HEADS = sizeof head_counts / sizeof *head_counts };

typedef struct fixture {
    FtB_Matrix M, E, D; /* the pattern, scores, and the gradient of scores */
    FtB_Block X, Y, dX, dY;
    double slope; /* 1: the sum alone */
    int64_t heads;
    FtB_Type type;
} fixture;

/* Row 3 has all columns, row 5 none; column 7 none but of the hub. */
static FtB_Matrix pattern(rng *r)
{
    int64_t I[NROWS * NCOLS], J[NROWS * NCOLS], n = 0;
    FtB_Matrix M;
    for (int64_t i = 0; i < NROWS; i++)
        for (int64_t j = 0; j < NCOLS; j++)
            if (i == 3 || (i != 5 && j != 7 && rng_below(r, 25) == 0)) {
                I[n] = i;
                J[n++] = j;
            }
    assert_ok(FtB_Matrix_build(&M, FTB_BOOL, NROWS, NCOLS, 0, n, I, J, NULL, FTB_DUP_ERROR, NULL));
    return M;
}

static fixture make(rng *r, FtB_Type type, int64_t heads, double slope)
{
    fixture f = {.M = pattern(r), .slope = slope, .heads = heads, .type = type};
    f.X = rng_heads(r, type, NCOLS, heads, 1, rng_reals);
    f.Y = rng_heads(r, type, NROWS, heads, 1, rng_reals);
    f.dX = rng_heads(r, type, NCOLS, heads, 1, rng_reals);
    f.dY = rng_heads(r, type, NROWS, heads, 1, rng_reals);
    assert_ok(FtB_Matrix_like(&f.E, f.M, heads, type));
    assert_ok(FtB_Matrix_like(&f.D, f.M, heads, type));
    rng_reals(r, matrix_values(f.D), type, f.M->pattern->nvals * heads);
    return f;
}

static void clear(fixture *f)
{
    FtB_Matrix_free(&f->M);
    FtB_Matrix_free(&f->E);
    FtB_Matrix_free(&f->D);
    FtB_Block_free(&f->X);
    FtB_Block_free(&f->Y);
    FtB_Block_free(&f->dX);
    FtB_Block_free(&f->dY);
}

static GrB_Info scores(const fixture *f)
{
    return f->slope == 1
               ? FtB_mxm(f->E, f->M, NULL, "plus : src + dst", f->Y, f->X, FTB_DESC_RST1)
               : FtB_mxm(f->E, f->M, NULL, "plus : leaky_relu(dst + src, 0.2)", f->Y, f->X, FTB_DESC_RST1);
}

static GrB_Info gradients(const fixture *f, bool accumulate)
{
    const FtB_Gradient wanted[] = {{"dst", FTB_ARG(f->dY), accumulate}, {"src", FTB_ARG(f->dX), accumulate}};
    return (FtB_mxm_grad)(FTB_ARG(f->D),
                          f->slope == 1 ? FTB_ARG("plus : src + dst")
                                        : FTB_ARG("plus : leaky_relu(dst + src, 0.2)"),
                          FTB_ARG(f->Y), FTB_ARG(f->X), FTB_ARG(f->M), FtB_Arg_none(), wanted, 2,
                          FTB_ARG(FTB_DESC_RST1));
}

static double at(FtB_Block X, int64_t i, int64_t h)
{
    return ftb_get_real(block_values(X), X->type, i * X->ld + h);
}

static double sum_of(const fixture *f, int64_t i, int64_t j, int64_t h)
{
    return f->type == FTB_FP32 ? (double)((float)at(f->X, j, h) + (float)at(f->Y, i, h))
                               : at(f->X, j, h) + at(f->Y, i, h);
}

/* Bit for bit: a sum, and perhaps a product. */
static void check_scores(const fixture *f)
{
    const ftb_pattern *p = all_rows_of(f->M);
    for (int64_t i = 0; i < NROWS; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            for (int64_t h = 0; h < f->heads; h++) {
                double z = sum_of(f, i, ftb_col(p, e), h);
                double goal = z > 0 ? z : f->type == FTB_FP32 ? (float)z * (float)f->slope : z * f->slope;
                double found = ftb_get_real(matrix_values(f->E), f->type, e * f->heads + h);
                if (goal != found && !(isnan(goal) && isnan(found)))
                    fail_msg("entry %lld, head %lld of %lld: %.17g, expected %.17g", (long long)e,
                             (long long)h, (long long)f->heads, found, goal);
            }
}

static void check_sums(FtB_Block X, const double *goal, int64_t heads, double tolerance)
{
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t h = 0; h < heads; h++)
            if (!(fabs(at(X, i, h) - goal[i * heads + h]) <= tolerance))
                fail_msg("row %lld, head %lld: %.17g, expected %.17g", (long long)i, (long long)h,
                         at(X, i, h), goal[i * heads + h]);
}

static void check_gradients(const fixture *f, const double *old_x, const double *old_y)
{
    const ftb_pattern *p = all_rows_of(f->M);
    double *dx = malloc(NCOLS * 16 * sizeof *dx), *dy = malloc(NROWS * 16 * sizeof *dy);
    double tolerance = f->type == FTB_FP32 ? 1e-5 : 1e-13;
    memcpy(dx, old_x, (size_t)(NCOLS * f->heads) * sizeof *dx);
    memcpy(dy, old_y, (size_t)(NROWS * f->heads) * sizeof *dy);
    for (int64_t i = 0; i < NROWS; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            for (int64_t h = 0; h < f->heads; h++) {
                double d = ftb_get_real(matrix_values(f->D), f->type, e * f->heads + h);
                d *= sum_of(f, i, ftb_col(p, e), h) > 0 ? 1 : f->slope;
                dx[ftb_col(p, e) * f->heads + h] += d;
                dy[i * f->heads + h] += d;
            }
    check_sums(f->dX, dx, f->heads, tolerance);
    check_sums(f->dY, dy, f->heads, tolerance);
    free(dx);
    free(dy);
}

static void copy(double *to, FtB_Block X, int64_t heads)
{
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t h = 0; h < heads; h++)
            to[i * heads + h] = at(X, i, h);
}

static void against_loops(void **state)
{
    (void)state;
    static double old_x[NCOLS * 16], old_y[NROWS * 16];
    rng r = rng_new();
    for (int t = 0; t < 4 * HEADS * 2; t++) {
        fixture f = make(&r, t / 4 % 2 ? FTB_FP64 : FTB_FP32, head_counts[t / 8], t % 3 ? 0.2 : 1);
        ftb_isa_force(t % 4 - 1);
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        memset(old_x, 0, sizeof old_x);
        memset(old_y, 0, sizeof old_y);
        assert_ok(scores(&f));
        check_scores(&f);
        if (t % 2) {
            copy(old_x, f.dX, f.heads);
            copy(old_y, f.dY, f.heads);
        }
        assert_ok(gradients(&f, t % 2));
        check_gradients(&f, old_x, old_y);
        double odd[] = {NAN, INFINITY, -INFINITY};
        ftb_cast(block_values(f.X), f.type, odd, FTB_FP64, 1);
        ftb_cast((char *)block_values(f.Y) + (size_t)(3 * f.Y->ld) * FtB_Type_size(f.type), f.type,
                 odd + 1 + t % 2, FTB_FP64, 1);
        assert_ok(FtB_Block_changed(f.X));
        assert_ok(FtB_Block_changed(f.Y));
        assert_ok(scores(&f));
        check_scores(&f);
        clear(&f);
    }
    ftb_isa_force(-1);
}

/* Sums of rounded values: the order in which they are added shows. */
static void bits(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 2 * HEADS; t++) {
        fixture f = make(&r, t % 2 ? FTB_FP64 : FTB_FP32, head_counts[t / 2], 0.2);
        static double x[NCOLS * 16], y[NROWS * 16];
        for (int run = 0; run < 9; run++) {
            ftb_isa_force(run % 3);
            assert_ok(FtB_Context_set_threads(NULL, 1 + run / 3));
            assert_ok(gradients(&f, false));
            if (run == 0) {
                copy(x, f.dX, f.heads);
                copy(y, f.dY, f.heads);
            }
            check_sums(f.dX, x, f.heads, 0);
            check_sums(f.dY, y, f.heads, 0);
        }
        clear(&f);
    }
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

static GrB_Info call(void *arg)
{
    const fixture *f = arg;
    GrB_Info info = scores(f);
    return info == GrB_SUCCESS ? gradients(f, false) : info;
}

/* A bound slope has its own gradient, and dst may be asked for twice. */
static void slope_and_twice(void **state)
{
    (void)state;
    rng r = rng_new();
    fixture f = make(&r, FTB_FP32, 1, 0.2);
    FtB_Semiring s, plain;
    FtB_Block dS, again;
    double goal = 0;
    assert_ok(FtB_Semiring_new(&plain, "plus : leaky_relu(src + dst, slope)"));
    assert_ok(FtB_Semiring_bind(&s, plain, FTB_BIND("slope", 0.2)));
    assert_ok(FtB_Block_new(&dS, 1, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&again, NROWS, 1, FTB_FP32));
    const FtB_Gradient wanted[] = {
        {"slope", FTB_ARG(dS), false}, {"dst", FTB_ARG(f.dY), false}, {"dst", FTB_ARG(again), false}};
    assert_ok((FtB_mxm_grad)(FTB_ARG(f.D), FTB_ARG(s), FTB_ARG(f.Y), FTB_ARG(f.X), FTB_ARG(f.M),
                             FtB_Arg_none(), wanted, 3, FTB_ARG(FTB_DESC_RST1)));
    const ftb_pattern *p = all_rows_of(f.M);
    for (int64_t i = 0; i < NROWS; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            goal += ftb_get_real(matrix_values(f.D), f.type, e) * fmin(0, sum_of(&f, i, ftb_col(p, e), 0));
    assert_true(fabs(at(dS, 0, 0) - goal) < 1e-4);
    for (int64_t i = 0; i < NROWS; i++) {
        double sum = 0;
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            sum += ftb_get_real(matrix_values(f.D), f.type, e) *
                   (sum_of(&f, i, ftb_col(p, e), 0) > 0 ? 1 : (double)0.2f);
        assert_true(fabs(at(f.dY, i, 0) - sum) < 1e-4);
        assert_true(at(again, i, 0) == at(f.dY, i, 0));
    }
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&plain);
    FtB_Block_free(&dS);
    FtB_Block_free(&again);
    clear(&f);
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    fixture f = make(&r, FTB_FP32, 4, 0.2);
    assert_ok(call(&f)); /* what a pattern keeps is made */
    fail_every_allocation(call, NULL, &f);
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_loops),
        cmocka_unit_test(bits),
        cmocka_unit_test(slope_and_twice),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
