/* FtB_mxm of a sparse matrix and a feature block, through the public interface: messages, dtypes, views,
 * heads, masks, accumulators, transposes, plans, winners, aliasing, failing allocations. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "oracle/ref_spmm.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 40, MOST_COLUMNS = 48, ROUNDS = 400 };

static FtB_Block with_heads(FtB_Block X, int64_t heads)
{
    FtB_Block V = NULL;
    assert_ok(FtB_Block_heads(&V, X, heads));
    FtB_Block_free(&X);
    return V;
}

static double *read_block(FtB_Block X)
{
    double *values = malloc(sizeof *values * (size_t)(X->nrows * X->ncols + 1));
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            values[i * X->ncols + f] = ftb_get_real(block_values(X), X->type, i * X->ld + f);
    return values;
}

static void assert_block(FtB_Block X, const double *want, const char *what)
{
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++) {
            double got = ftb_get_real(block_values(X), X->type, i * X->ld + f),
                   expected = want[i * X->ncols + f];
            if (X->type == FTB_INT64)
                expected = trunc(expected); /* a mean */
            if (!(fabs(got - expected) <= 1e-5 * fmax(1, fabs(expected))))
                fail_msg("%s, row %lld, feature %lld of %lld x %lld: %.17g; expected %.17g", what,
                         (long long)i, (long long)f, (long long)X->nrows, (long long)X->ncols, got, expected);
        }
}

static FtB_Type pick_type(rng *r)
{
    static const FtB_Type types[] = {FTB_FP32,  FTB_FP32, FTB_FP64, FTB_INT32,
                                     FTB_INT64, FTB_FP16, FTB_BF16, FTB_INT8};
    return types[rng_below(r, 8)];
}

/* With dst bound, where the text names it. */
static FtB_Semiring bound_semiring(const char *text, FtB_Block dst)
{
    FtB_Semiring s = NULL, bound = NULL;
    assert_ok(FtB_Semiring_new(&s, text));
    if (!strstr(text, "dst"))
        return s;
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("dst", dst)));
    FtB_Semiring_free(&s);
    return bound;
}

typedef struct trial {
    const ref_spmm_case *c;
    FtB_Matrix A;
    bool transpose;
    int64_t heads;
    FtB_Block X, D, C, E;
    ref_spmm_write write;
    FtB_Semiring semiring;
    FtB_Descriptor desc;
} trial;

static void make_trial(trial *t, rng *r)
{
    static const int64_t widths[] = {1, 1, 2, 3, 4, 7, 16, 33};
    int64_t nrows = rng_below(r, MOST_ROWS), ncols = rng_below(r, MOST_ROWS);
    int64_t heads = 1 + rng_below(r, 4), width = widths[rng_below(r, 8)];
    int64_t edges[] = {0, 1, heads, heads * width};
    *t = (trial){.c = &ref_spmm_cases[rng_below(r, ref_spmm_count)], .heads = heads};
    t->transpose = rng_below(r, 3) == 0;
    t->A = rng_matrix(r, pick_type(r), t->transpose ? ncols : nrows, t->transpose ? nrows : ncols,
                      edges[rng_below(r, 4)], rng_unit(r));
    t->X = with_heads(rng_block(r, ncols, heads * width, pick_type(r)), heads);
    t->D = with_heads(rng_block(r, nrows, heads * width, pick_type(r)), heads);
    t->C = rng_block(r, nrows, heads * width, rng_below(r, 4) ? FTB_FP64 : FTB_FP32);
    assert_ok(FtB_Block_new(&t->E, nrows, heads * width, FTB_INT64));
    t->semiring = bound_semiring(t->c->text, t->D);
    t->write =
        (ref_spmm_write){.structural = rng_below(r, 2), .replace = rng_below(r, 2), .add = rng_below(r, 2)};
    if (rng_below(r, 2)) {
        t->write.mask = rng_block(r, nrows, 1, FTB_INT8);
        t->write.complement = rng_below(r, 2);
    }
    assert_ok(FtB_Descriptor_new(&t->desc));
    if (rng_below(r, 2)) {
        t->write.fill = 7;
        assert_ok(FtB_Descriptor_set(t->desc, FTB_FILL, 7.0));
    }
    assert_ok(FtB_Descriptor_set(t->desc, FTB_TRANSPOSE0, (int)t->transpose));
    assert_ok(FtB_Descriptor_set(t->desc, FTB_STRUCTURAL, (int)t->write.structural));
    assert_ok(FtB_Descriptor_set(t->desc, FTB_COMPLEMENT, (int)t->write.complement));
    assert_ok(FtB_Descriptor_set(t->desc, FTB_REPLACE, (int)t->write.replace));
}

static void free_trial(trial *t)
{
    FtB_Matrix_free(&t->A);
    FtB_Block_free(&t->X);
    FtB_Block_free(&t->D);
    FtB_Block_free(&t->C);
    FtB_Block_free(&t->E);
    FtB_Block_free(&t->write.mask);
    FtB_Semiring_free(&t->semiring);
    FtB_Descriptor_free(&t->desc);
}

static void run_trial(trial *t)
{
    double *old = read_block(t->C), *want = read_block(t->C);
    ref_spmm(want, NULL, t->c, t->A, t->transpose, t->X, t->D, t->heads, &t->write, old);
    assert_ok(FtB_mxm(t->C, t->write.mask, t->write.add ? "x + y" : NULL, t->semiring, t->A, t->X, t->desc));
    assert_block(t->C, want, t->c->text);
    free(old);
    free(want);
}

static void test_random(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < ROUNDS; round++) {
        trial t;
        make_trial(&t, &r);
        ftb_isa_force((int)rng_below(&r, 3));
        run_trial(&t);
        free_trial(&t);
    }
    ftb_isa_force(-1);
}

static void test_winners(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int round = 0; round < 4 * ROUNDS; round++) {
        trial t;
        make_trial(&t, &r);
        bool real = ftb_type_float(t.X->type); /* mixed: the oracle has -0 where a whole number was 0 */
        bool mixed =
            real != ftb_type_float(t.D->type) || real != ftb_type_float(t.A->type) || t.A->width == 0;
        if (mixed || (strcmp(t.c->reducer, "min") != 0 && strcmp(t.c->reducer, "max") != 0)) {
            free_trial(&t);
            continue;
        }
        t.write.add = false;
        t.write.replace = true;
        double *old = read_block(t.C), *want = read_block(t.C);
        int64_t *winner = calloc((size_t)(t.E->nrows * t.E->ncols + 1), sizeof *winner);
        ref_spmm(want, winner, t.c, t.A, t.transpose, t.X, t.D, t.heads, &t.write, old);
        assert_ok(FtB_mxm_arg(t.C, t.E, t.write.mask, t.semiring, t.A, t.X, t.desc));
        assert_block(t.C, want, t.c->text);
        for (int64_t at = 0; at < t.E->nrows * t.E->ncols; at++)
            assert_int_equal(((int64_t *)block_values(t.E))[at], winner[at]);
        free(old);
        free(want);
        free(winner);
        free_trial(&t);
    }
}

/* The same bits from every plan, any number of threads: reals that round. */
static void every_plan(rng *r, int64_t heads)
{
    enum { N = 300, D = 100 };
    static const char *const texts[] = {"plus : src", "mean : src", "max : edge * src", "plus : edge * src"};
    static const char *const segments[] = {"1", "17", "64", "100", "65536"}, *const tiles[] = {"1", "32",
                                                                                               "128"};
    static const char *const parts[] = {"1", "3", "300", "1000"};
    FtB_Matrix A = rng_matrix(r, FTB_FP32, N, N, heads, 0.1);
    FtB_Block blocks[3] = {NULL}, X = NULL, first = NULL, C = NULL;
    FtB_Descriptor desc = NULL;
    for (int b = 0; b < 3; b++)
        assert_ok(FtB_Block_new(&blocks[b], N, D, FTB_FP32));
    assert_ok(FtB_Block_heads(&X, blocks[0], heads));
    assert_ok(FtB_Block_heads(&first, blocks[1], heads));
    assert_ok(FtB_Block_heads(&C, blocks[2], heads));
    assert_ok(FtB_Descriptor_new(&desc));
    for (int64_t t = 0; t < N * D; t++)
        ((float *)block_values(X))[t] = (float)(rng_unit(r) - 0.5);
    for (int64_t e = 0; e < heads * A->pattern->nvals; e++)
        ((float *)matrix_values(A))[e] = (float)(rng_unit(r) - 0.5);
    for (size_t c = 0; c < sizeof texts / sizeof *texts; c++) {
        FtB_Plan plan = NULL;
        assert_ok(FtB_mxm(first, NULL, NULL, texts[c], A, X, NULL));
        assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, texts[c], A, X, NULL, FTB_ESTIMATE));
        assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
        for (int t = 0; t < 15; t++) {
            assert_ok(FtB_Plan_set(plan, "kernel", "partitioned"));
            assert_ok(FtB_Plan_set(plan, "segment", segments[t % 5]));
            assert_ok(FtB_Plan_set(plan, "tile", tiles[t / 5]));
            assert_ok(FtB_Plan_set(plan, "threads", t % 2 ? "2" : "1"));
            assert_ok(FtB_Plan_set(plan, "ordered", t % 3 ? "1" : "0"));
            assert_ok(FtB_Plan_set(plan, "parts", parts[t % 4]));
            assert_true(planned_figure(plan, "partitioned") > 0);
            memset(block_values(C), 0, sizeof(float) * N * D);
            assert_ok(FtB_mxm(C, NULL, NULL, texts[c], A, X, desc));
            assert_memory_equal(block_values(C), block_values(first), sizeof(float) * N * D);
        }
        assert_ok(FtB_Plan_set(plan, "kernel", "direct"));
        assert_false(planned_figure(plan, "partitioned") > 0);
        assert_ok(FtB_mxm(C, NULL, NULL, texts[c], A, X, desc));
        assert_memory_equal(block_values(C), block_values(first), sizeof(float) * N * D);
        assert_fails(GrB_INVALID_VALUE, "expected auto, program", FtB_Plan_set(plan, "kernel", "fast"));
        assert_fails(GrB_INVALID_VALUE, "1 to 65536", FtB_Plan_set(plan, "segment", "0"));
        assert_fails(GrB_INVALID_VALUE, "known are segment", FtB_Plan_get(plan, "triangle", &(double){0}));
        FtB_Plan_free(&plan);
    }
    FtB_Descriptor_free(&desc);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&first);
    FtB_Block_free(&C);
    for (int b = 0; b < 3; b++)
        FtB_Block_free(&blocks[b]);
}

static void test_plans(void **state)
{
    (void)state;
    rng r = rng_new();
    every_plan(&r, 1);
    every_plan(&r, 4);
}

/* FTB_MEASURE: another plan at most, the same bits, outputs untouched while it looks, what was forced kept.
 */
/* Hubs' features are shared by threads: the bits of one thread. Rows 0 and 3 of 5 are hubs. */
static void test_hubs(void **state)
{
    enum { HUB = (1 << 17) + 3, D = 37, ROWS = 5 };
    static const int64_t rowptr[] = {0, HUB, HUB + 2, HUB + 2, 2 * HUB + 2, 2 * HUB + 5};
    static const char *const texts[] = {"plus : src", "max : edge * src", "mean : src"};
    rng r = rng_new();
    int32_t *columns = malloc(sizeof *columns * (2 * HUB + 5));
    float *weights = malloc(sizeof *weights * (2 * HUB + 5));
    FtB_Matrix A = NULL;
    FtB_Block X = NULL, C = NULL, mask = NULL;
    FtB_Descriptor desc = NULL;
    (void)state;
    for (int i = 0; i < ROWS; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            columns[e] = (int32_t)(e - rowptr[i]);
            weights[e] = (float)(rng_unit(&r) - 0.5);
        }
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, ROWS, HUB, 1, rowptr, columns, weights));
    assert_ok(FtB_Block_new(&X, HUB, D, FTB_FP32));
    assert_ok(FtB_Block_new(&C, ROWS, D, FTB_FP32));
    assert_ok(FtB_Block_new(&mask, ROWS, 1, FTB_BOOL));
    for (int64_t t = 0; t < (int64_t)HUB * D; t++)
        ((float *)block_values(X))[t] = (float)(rng_unit(&r) - 0.5);
    for (int i = 1; i < ROWS; i++)
        ((bool *)block_values(mask))[i] = true;
    assert_ok(FtB_Descriptor_new(&desc));
    for (int t = 0; t < 6; t++) {
        float one[ROWS * D] = {0};
        for (int threads = 1; threads <= 4; threads += 3) {
            char text[8];
            FtB_Plan plan = NULL;
            snprintf(text, sizeof text, "%d", threads);
            assert_ok(
                FtB_mxm_plan(&plan, C, t / 3 ? mask : NULL, NULL, texts[t % 3], A, X, NULL, FTB_ESTIMATE));
            assert_ok(FtB_Plan_set(plan, "kernel", "direct"));
            assert_ok(FtB_Plan_set(plan, "threads", text));
            assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
            memset(block_values(C), 0, sizeof one);
            assert_ok(FtB_mxm(C, t / 3 ? mask : NULL, NULL, texts[t % 3], A, X, desc));
            if (threads == 1)
                memcpy(one, block_values(C), sizeof one);
            FtB_Plan_free(&plan);
        }
        assert_memory_equal(block_values(C), one, sizeof one);
        assert_true(fabsf(one[3 * D + D - 1]) > 0);
    }
    FtB_Descriptor_free(&desc);
    FtB_Block_free(&mask);
    FtB_Block_free(&C);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
    free(weights);
    free(columns);
}

static void test_measured(void **state)
{
    (void)state;
    rng r = rng_new();
    static const char *const texts[] = {"plus : src", "mean : (src + dst) @ W", "max : edge * src",
                                        "plus : tanh(src)"};
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 200, 300, 1, 0.1);
    FtB_Block X = rng_block(&r, 300, 40, FTB_BF16), Y = rng_block(&r, 200, 40, FTB_FP32);
    FtB_Block W = rng_block(&r, 40, 40, FTB_FP32), C = NULL, D = NULL;
    FtB_Descriptor desc = NULL;
    assert_ok(FtB_Block_new(&C, 200, 40, FTB_FP32));
    assert_ok(FtB_Block_new(&D, 200, 40, FTB_FP32));
    assert_ok(FtB_Descriptor_new(&desc));
    for (int t = 0; t < 4; t++) {
        FtB_Semiring plain = NULL, s = NULL;
        FtB_Plan plan = NULL;
        assert_ok(FtB_Semiring_new(&plain, texts[t]));
        if (strstr(texts[t], "dst"))
            assert_ok(FtB_Semiring_bind(&s, plain, FTB_BIND("dst", Y), FTB_BIND("W", W)));
        else
            assert_ok(FtB_Semiring_new(&s, texts[t]));
        memset(block_values(C), 0, 200 * 40 * sizeof(float));
        assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, s, A, X, NULL, FTB_MEASURE));
        for (int64_t v = 0; v < 200 * 40; v++)
            assert_true(fabsf(((float *)block_values(C))[v]) <= 0);
        assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
        assert_ok(FtB_mxm(C, NULL, NULL, s, A, X, desc));
        assert_ok(FtB_mxm(D, NULL, NULL, s, A, X, NULL));
        assert_memory_equal(block_values(C), block_values(D), 200 * 40 * sizeof(float));
        FtB_Plan_free(&plan);
        FtB_Semiring_free(&s);
        FtB_Semiring_free(&plain);
    }
    FtB_Descriptor_free(&desc);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&W);
    FtB_Block_free(&C);
    FtB_Block_free(&D);
}

/* C may be B, dst, or a view that overlaps them. */
static void test_aliases(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { N = 30, D = 5 };
    static const ref_spmm_write plain = {0};
    for (int c = 0; c < ref_spmm_count; c++)
        for (int which = 0; which < 3; which++) {
            FtB_Matrix A = rng_matrix(&r, FTB_FP64, N, N, 1, 0.3);
            FtB_Block whole = NULL, X = NULL, dst = NULL, C = NULL;
            assert_ok(FtB_Block_new(&whole, N, 3 * D, FTB_FP64));
            rng_values(&r, block_values(whole), FTB_FP64, N * 3 * D);
            assert_ok(FtB_Block_columns(&X, whole, 0, D));
            assert_ok(FtB_Block_columns(&dst, whole, 2 * D, D));
            assert_ok(FtB_Block_columns(&C, whole, which == 0 ? 0 : which == 1 ? 2 : 2 * D, D));
            FtB_Semiring s = bound_semiring(ref_spmm_cases[c].text, dst);
            double *want = read_block(C), *old = read_block(C);
            ref_spmm(want, NULL, &ref_spmm_cases[c], A, false, X, dst, 1, &plain, old);
            assert_ok(FtB_mxm(C, NULL, NULL, s, A, X, NULL));
            assert_block(C, want, ref_spmm_cases[c].text);
            free(want);
            free(old);
            FtB_Semiring_free(&s);
            FtB_Block_free(&X);
            FtB_Block_free(&dst);
            FtB_Block_free(&C);
            FtB_Block_free(&whole);
            FtB_Matrix_free(&A);
        }
}

static void test_refused(void **state)
{
    (void)state;
    FtB_Matrix A = NULL;
    FtB_Block X = NULL, C = NULL, E = NULL;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 3, 4, 1));
    assert_ok(FtB_Block_new(&X, 4, 6, FTB_FP32));
    assert_ok(FtB_Block_new(&C, 3, 6, FTB_FP32));
    assert_ok(FtB_Block_new(&E, 3, 6, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "B: 3 x 6; expected 4 rows",
                 FtB_mxm(C, NULL, NULL, "plus : src", A, C, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "C: 4 x 6; expected 3 rows",
                 FtB_mxm(X, NULL, NULL, "plus : src", A, X, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "3 x 1", FtB_mxm(C, NULL, NULL, "plus : sum(src)", A, X, NULL));
    assert_fails(GrB_INVALID_VALUE, "B transposed", FtB_mxm(C, NULL, NULL, "plus : src", A, X, FTB_DESC_T1));
    assert_fails(GrB_INVALID_VALUE, "unknown name", FtB_mxm(C, NULL, NULL, "plus : srk", A, X, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "FtB_mxm_arg", FtB_mxm(C, NULL, NULL, "argmax : src", A, X, NULL));
    assert_fails(GrB_INVALID_VALUE, "min or max", FtB_mxm_arg(C, E, NULL, "plus : src", A, X, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "E: dtype", FtB_mxm_arg(C, E, NULL, "max : src", A, X, NULL));
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&E);
}

/* ---- failing allocations */

typedef struct inputs {
    const char *text;
    FtB_Block X, C, E;
    const char *kernel;
} inputs;

static GrB_Info failing_call(void *arg)
{
    static const int64_t I[] = {0, 0, 1, 3, 3, 3}, J[] = {0, 2, 1, 0, 1, 2};
    static const float V[] = {1, 2, 3, 4, 5, 6};
    inputs *in = arg;
    FtB_Matrix A = NULL;
    FtB_Plan plan = NULL;
    FtB_Descriptor desc = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 4, 3, 1, 6, I, J, V, FTB_DUP_ERROR, NULL));
    FTB_CHECK(FtB_Descriptor_new(&desc));
    if (in->kernel) {
        FTB_CHECK(FtB_mxm_plan(&plan, in->C, NULL, NULL, in->text, A, in->X, NULL, FTB_MEASURE));
        FTB_CHECK(FtB_Plan_set(plan, "kernel", in->kernel));
        FTB_CHECK(FtB_Descriptor_set(desc, FTB_PLAN, plan));
    }
    info = in->E ? FtB_mxm_arg(in->C, in->E, NULL, in->text, A, in->X, desc)
                 : FtB_mxm(in->C, NULL, NULL, in->text, A, in->X, desc);
    if (info == GrB_SUCCESS) { /* for the next run */
        memset(block_values(in->C), 0, 4 * 2 * sizeof(float));
        FTB_CHECK(FtB_Block_changed(in->C));
    }
done:
    FtB_Wisdom_forget(NULL);
    FtB_Plan_free(&plan);
    FtB_Descriptor_free(&desc);
    FtB_Matrix_free(&A);
    return info;
}

static void untouched(void *arg)
{
    const inputs *in = arg;
    for (int t = 0; t < 4 * 2; t++)
        assert_true(fabsf(((float *)block_values(in->C))[t]) <= 0);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kernel;
    } cases[] = {{"plus : src", "partitioned"},
                 {"plus : edge * src", "direct"},
                 {"mean : src", "direct"},
                 {"max : tanh(src) + edge", NULL},
                 {"plus : src * src * edge", "partitioned"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int arg = 0; arg < 2; arg++) {
            inputs in = {.text = cases[c].text, .kernel = arg ? NULL : cases[c].kernel};
            if (arg && strncmp(in.text, "max", 3) != 0)
                continue;
            assert_ok(FtB_Block_new(&in.X, 3, 2, FTB_FP32));
            assert_ok(FtB_Block_new(&in.C, 4, 2, FTB_FP32));
            if (arg)
                assert_ok(FtB_Block_new(&in.E, 4, 2, FTB_INT64));
            for (int t = 0; t < 3 * 2; t++)
                ((float *)block_values(in.X))[t] = (float)(t + 1);
            fail_every_allocation(failing_call, untouched, &in);
            FtB_Block_free(&in.X);
            FtB_Block_free(&in.C);
            FtB_Block_free(&in.E);
        }
}

#ifdef GxB_IMPLEMENTATION
/* Every column of B is present, so that GraphBLAS's product has all of C's. */
static void check_grb(FtB_Matrix A, FtB_Block X, GrB_Semiring semiring, const char *name)
{
    GrB_Matrix a, x, c;
    FtB_Block C = NULL;
    FtB_Type type = FTB_INT64;
    assert_ok(FtB_Matrix_export(&a, A, 0));
    assert_int_equal(GrB_Matrix_new(&x, GrB_INT64, (GrB_Index)X->nrows, (GrB_Index)X->ncols), GrB_SUCCESS);
    assert_int_equal(GrB_Matrix_new(&c, GrB_INT64, (GrB_Index)A->pattern->nrows, (GrB_Index)X->ncols),
                     GrB_SUCCESS);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            GrB_Matrix_setElement_INT64(x, ftb_get_integer(block_values(X), X->type, i * X->ld + f),
                                        (GrB_Index)i, (GrB_Index)f);
    assert_int_equal(GrB_mxm(c, NULL, NULL, semiring, a, x, NULL), GrB_SUCCESS);
    assert_ok(FtB_Block_new(&C, A->pattern->nrows, X->ncols, type));
    assert_ok(FtB_mxm(C, NULL, NULL, semiring, A, X, NULL));
    for (int64_t i = 0; i < C->nrows; i++)
        for (int64_t f = 0; f < C->ncols; f++) {
            int64_t want = 0;
            GrB_Matrix_extractElement_INT64(&want, c, (GrB_Index)i, (GrB_Index)f); /* absent: the fill, 0 */
            if (ftb_get_integer(block_values(C), type, i * C->ld + f) != want)
                fail_msg("%s: row %d, column %d", name, (int)i, (int)f);
        }
    FtB_Block_free(&C);
    GrB_Matrix_free(&a);
    GrB_Matrix_free(&x);
    GrB_Matrix_free(&c);
}

/* GraphBLAS's semirings whose products do not read B, or are indices. */
static void test_graphblas_positions(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int64_t d = 1; d <= 5; d += 2) {
        FtB_Matrix A = rng_matrix(&r, FTB_INT64, 20, 30, 1, 0.2);
        FtB_Block X = rng_block(&r, 30, d, FTB_INT64), C = NULL, E = NULL;
        const struct {
            GrB_Semiring semiring;
            const char *name;
        } known[] = {
            {GxB_PLUS_FIRSTI_INT64, "PLUS_FIRSTI"}, {GxB_MIN_FIRSTI1_INT64, "MIN_FIRSTI1"},
            {GxB_PLUS_FIRSTJ_INT64, "PLUS_FIRSTJ"}, {GxB_MAX_FIRSTJ1_INT64, "MAX_FIRSTJ1"},
            {GxB_MIN_SECONDI_INT64, "MIN_SECONDI"}, {GxB_TIMES_SECONDI1_INT64, "TIMES_SECONDI1"},
            {GxB_PLUS_PAIR_INT64, "PLUS_PAIR"},     {GxB_MAX_FIRST_INT64, "MAX_FIRST"},
            {GxB_PLUS_FIRST_INT64, "PLUS_FIRST"},   {GxB_PLUS_SECOND_INT64, "PLUS_SECOND"},
        };
        for (size_t t = 0; t < sizeof known / sizeof *known; t++)
            check_grb(A, X, known[t].semiring, known[t].name);
        assert_ok(FtB_Block_new(&C, 20, d, FTB_INT64));
        assert_ok(FtB_Block_new(&E, 20, d, FTB_INT64));
        assert_fails(GrB_DOMAIN_MISMATCH, "B's column",
                     FtB_mxm(C, NULL, NULL, GxB_MIN_SECONDJ_INT64, A, X, NULL));
        assert_ok(FtB_mxm_arg(C, E, NULL, GxB_MAX_FIRSTJ_INT64, A, X, NULL));
        for (int64_t t = 0; t < 20 * d; t++) {
            int64_t winner = ((int64_t *)block_values(E))[t];
            assert_int_equal(((int64_t *)block_values(C))[t], winner < 0 ? 0 : ftb_col(A->pattern, winner));
        }
        FtB_Block_free(&C);
        FtB_Block_free(&E);
        FtB_Block_free(&X);
        FtB_Matrix_free(&A);
    }
}
#endif

/* Empty everything. */
static void test_empty(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 0, 1}, {0, 3, 2}, {3, 0, 2}, {2, 2, 0}, {0, 0, 0}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        FtB_Matrix A = NULL;
        FtB_Block X = NULL, C = NULL;
        assert_ok(FtB_Matrix_new(&A, FTB_FP32, shapes[s][0], shapes[s][1], 0));
        assert_ok(FtB_Block_new(&X, shapes[s][1], shapes[s][2], FTB_FP32));
        assert_ok(FtB_Block_new(&C, shapes[s][0], shapes[s][2], FTB_FP32));
        for (int64_t t = 0; t < C->nrows * C->ncols; t++)
            ((float *)block_values(C))[t] = 5;
        GrB_Info info = FtB_mxm(C, NULL, NULL, FTB_MAX_SRC, A, X, NULL);
        assert_true(info == GrB_SUCCESS || (shapes[s][2] == 0 && info == GrB_DIMENSION_MISMATCH));
        for (int64_t t = 0; t < C->nrows * C->ncols; t++)
            assert_true(fabsf(((float *)block_values(C))[t]) <= 0);
        FtB_Matrix_free(&A);
        FtB_Block_free(&X);
        FtB_Block_free(&C);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_winners),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_hubs),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_measured),
#ifdef GxB_IMPLEMENTATION
        cmocka_unit_test(test_graphblas_positions),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
