/* Gradients of leaky_relu(src + dst) on entries, on a GPU that does not exist (support/fake_gpu.h): beside
 * the host's in FP64, by row and by column, with rows and columns that are cut and ones without entries. */
#include "support/check.h"

#include "core/core.h"
#include "support/fake_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct shape {
    int64_t nrows, ncols, heads, offset, gap, hub;
} shape;

static const char *const texts[] = {"plus : src + dst", "plus : leaky_relu(src + dst, 0.2)"};

enum { SRC, DST, OPERANDS };
typedef struct problem {
    FtB_Matrix A, dS;
    FtB_Block of[OPERANDS], grad[OPERANDS];
} problem;

static void release(problem *p)
{
    for (int n = 0; n < OPERANDS; n++) {
        FtB_Block_free(&p->of[n]);
        FtB_Block_free(&p->grad[n]);
    }
    FtB_Matrix_free(&p->A);
    FtB_Matrix_free(&p->dS);
}

/* Sums that are 0, -0, infinite and no number. */
static void make_odd(rng *r, FtB_Block X)
{
    static const float odd[] = {-0.0F, 0, 0.5F, -0.5F, INFINITY, -INFINITY, NAN};
    float *x = block_values(X);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            if (rng_below(r, 3) == 0)
                x[i * X->ld + f] = odd[rng_below(r, 7)];
    assert_ok(FtB_Block_changed(X));
}

static problem make(rng *r, const shape *of)
{
    problem p = {.dS = fake_gpu_matrix(r, of->nrows, of->ncols, of->heads, of->hub)};
    assert_ok(FtB_Matrix_like(&p.A, p.dS, 0, FTB_FP32));
    for (int n = 0; n < OPERANDS; n++) {
        const int64_t nrows = n == SRC ? of->ncols : of->nrows;
        p.of[n] = fake_gpu_block(r, nrows, of->heads, 1, of->offset, of->gap * (1 + n), false);
        assert_ok(FtB_Block_new(&p.grad[n], nrows, of->heads, FTB_FP32));
        make_odd(r, p.of[n]);
    }
    return p;
}

static problem widened(const problem *p)
{
    problem w = {.A = p->A, .dS = fake_gpu_wide_matrix(p->dS)};
    for (int n = 0; n < OPERANDS; n++) {
        w.of[n] = fake_gpu_wide(p->of[n]);
        w.grad[n] = fake_gpu_wide(p->grad[n]);
    }
    return w;
}

/* wanted: a bit for src, and one for dst. */
static void differentiate(const problem *p, const char *text, int wanted)
{
    static const char *const names[] = {"src", "dst"};
    FtB_Gradient list[OPERANDS];
    size_t count = 0;
    for (int n = 0; n < OPERANDS; n++)
        if (wanted >> n & 1)
            list[count++] = (FtB_Gradient){.name = names[n], .output = FTB_ARG(p->grad[n])};
    FtB_Semiring s;
    assert_ok(FtB_Semiring_new(&s, text));
    assert_ok((FtB_mxm_grad)(FTB_SLOT(p->dS), FTB_SLOT(s), FTB_SLOT(p->of[DST]), FTB_SLOT(p->of[SRC]),
                             FTB_SLOT(p->A), FTB_SLOT(NULL), list, count, FTB_SLOT(FTB_DESC_ST1)));
    FtB_Semiring_free(&s);
}

/* Terms are rounded, sums once. */
static void assert_near(FtB_Block X, FtB_Block wanted, const shape *of, const char *what)
{
    const float *got = block_values(X);
    const double *expected = block_values(wanted), bound = 0x1p-23 * (double)(of->hub + 10);
    for (int64_t k = 0; k < X->nrows * X->ncols; k++)
        if (!(fabs(got[k] - expected[k]) <= bound))
            fail_msg("%s, %lld heads: value %lld is %.9g, not %.9g", what, (long long)of->heads, (long long)k,
                     got[k], expected[k]);
}

static void compare(rng *r, const shape *of, const char *text)
{
    problem p = make(r, of), w = widened(&p);
    int64_t there[2];
    const int ran = fake_gpu_launches();
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    differentiate(&w, text, 3);
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    for (int wanted = 1; wanted < 4; wanted++) {
        char what[60];
        differentiate(&p, text, wanted);
        for (int n = 0; n < OPERANDS; n++) {
            snprintf(what, sizeof what, "%s of %s", n == SRC ? "dsrc" : "ddst", text);
            if (wanted >> n & 1)
                assert_near(p.grad[n], w.grad[n], of, what);
        }
    }
    differentiate(&p, text, 3);
    assert_ok(FtB_Context_moved(NULL, NULL, &there[0]));
    differentiate(&p, text, 3);
    assert_ok(FtB_Context_moved(NULL, NULL, &there[1]));
    if (fake_gpu_emulates()) { /* what is there stays there */
        assert_int_equal(there[0], there[1]);
        assert_true(fake_gpu_launches() >= ran + (of->nrows > 0 ? 6 : 0));
    }
    w.A = NULL;
    release(&p);
    release(&w);
}

static void test_shapes(void **state)
{
    static const shape shapes[] = {
        {20, 30, 1, 0, 0, 20},     {200, 30, 1, 0, 2, 20}, {20, 30, 5, 1, 0, 20},    {20, 30, 8, 0, 0, 20},
        {20, 30, 33, 0, 1, 9},     {20, 30, 70, 0, 0, 9},  {5, 1100, 3, 0, 0, 1090}, {1100, 5, 1, 0, 0, 1090},
        {3, 2100, 40, 0, 1, 2090}, {5, 4, 2, 0, 0, 0},     {0, 5, 2, 0, 0, 0},       {1, 1, 1, 0, 0, 1}};
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
        for (int t = 0; t < 2; t++)
            compare(&r, &shapes[n], texts[t]);
    for (int n = 0; n < rng_cases(20); n++) {
        const shape of = {1 + rng_below(&r, 30), 1 + rng_below(&r, 40), 1 + rng_below(&r, 12),
                          rng_below(&r, 3),      rng_below(&r, 3),      rng_below(&r, 20)};
        compare(&r, &of, texts[n % 2]);
    }
}

/* A launch that fails: the host does it all. */
static void failures(void **state)
{
    static const char *const turn[] = {"1", "2", "3", "4", "5", "6"};
    const shape of = {1100, 1100, 1, 0, 0, 1090}; /* cut both ways: four launches, and a copy of each */
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    problem p = make(&r, &of), w = widened(&p);
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    differentiate(&w, texts[1], 3);
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    for (int n = 0; n < 6; n++) {
        setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
        setenv("FAKE_CUDA_AT", turn[n], 1);
        differentiate(&p, texts[1], 3);
        assert_null(getenv("FAKE_CUDA_AT")); /* it was that many */
        for (int k = 0; k < OPERANDS; k++)
            assert_near(p.grad[k], w.grad[k], &of, "after a failure");
    }
    w.A = NULL;
    release(&p);
    release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_shapes, fake_gpu_clean),
                                       cmocka_unit_test_teardown(failures, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
