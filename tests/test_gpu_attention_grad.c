/* Gradients of attention on a GPU that does not exist (support/fake_gpu.h): every variant of both walks, rows
 * and columns that are cut, dropout, gradients that nobody wants, and scores that are no numbers, beside the
 * host's in FP64. */
#include "support/check.h"

#include "core/core.h"
#include "support/fake_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct shape {
    int64_t nrows, ncols, heads, width, value_width, offset, gap, hub;
} shape;

static const char *const texts[] = {"plus : dot(src, dst) * 0.5", "plus : leaky_relu(src + dst, 0.2)"};

enum { Q, K, V, OPERANDS };
/* The operands, their gradients, what attention made of them, and the gradient of that. In FP64 it is the
 * host's. */
typedef struct problem {
    FtB_Matrix A;
    FtB_Block of[OPERANDS], grad[OPERANDS], C, dC, lse;
} problem;

static void release(problem *p)
{
    for (int n = 0; n < OPERANDS; n++) {
        FtB_Block_free(&p->of[n]);
        FtB_Block_free(&p->grad[n]);
    }
    FtB_Block_free(&p->C);
    FtB_Block_free(&p->dC);
    FtB_Block_free(&p->lse);
    FtB_Matrix_free(&p->A);
}

enum { BLOCKS = 8, NONE = -1 };

/* odd: of these blocks, the one whose rows begin where four values cannot be read at a time. */
static problem make(rng *r, const shape *of, bool add, int odd)
{
    const int64_t width = add ? 1 : of->width;
    problem p = {.A = fake_gpu_matrix(r, of->nrows, of->ncols, 0, of->hub)};
    const struct {
        FtB_Block *to;
        int64_t nrows, width;
    } list[BLOCKS] = {{&p.of[Q], of->nrows, width},           {&p.of[K], of->ncols, width},
                      {&p.of[V], of->ncols, of->value_width}, {&p.grad[Q], of->nrows, width},
                      {&p.grad[K], of->ncols, width},         {&p.grad[V], of->ncols, of->value_width},
                      {&p.C, of->nrows, of->value_width},     {&p.dC, of->nrows, of->value_width}};
    for (int n = 0; n < BLOCKS; n++)
        *list[n].to = fake_gpu_block(r, list[n].nrows, of->heads, list[n].width, n == odd ? 1 : of->offset,
                                     n == odd ? 3 : of->gap, false);
    assert_ok(FtB_Block_new(&p.lse, of->nrows, of->heads, FTB_FP32));
    return p;
}

static problem widened(const problem *p)
{
    problem w = {
        .A = p->A, .C = fake_gpu_wide(p->C), .dC = fake_gpu_wide(p->dC), .lse = fake_gpu_wide(p->lse)};
    for (int n = 0; n < OPERANDS; n++) {
        w.of[n] = fake_gpu_wide(p->of[n]);
        w.grad[n] = fake_gpu_wide(p->grad[n]);
    }
    return w;
}

static void attend(const problem *p, bool add, double dropout)
{
    assert_ok(FtB_attention(p->C, p->A, NULL, texts[add], p->of[Q], p->of[K], p->of[V],
                            FTB_ATTENTION_OPTIONS(.dropout = dropout, .seed = 77, .lse = p->lse), NULL));
}

/* wanted: a bit for each of Q, K, V. */
static void differentiate(const problem *p, bool add, double dropout, int wanted)
{
    FtB_Arg to[OPERANDS];
    for (int n = 0; n < OPERANDS; n++)
        to[n] = wanted >> n & 1 ? FTB_ARG(p->grad[n]) : FtB_Arg_none();
    assert_ok(FtB_attention_grad(to[Q], to[K], to[V], p->dC, p->A, texts[add], p->of[Q], p->of[K], p->of[V],
                                 p->C, FTB_ATTENTION_OPTIONS(.dropout = dropout, .seed = 77, .lse = p->lse),
                                 NULL));
}

/* All of a block's rows, with what lies beside them. */
static float *copy_of(FtB_Block X, int64_t *count)
{
    const float *x = block_values(X);
    const int64_t before = X->offset / (int64_t)sizeof(float);
    *count = X->nrows * X->ld;
    float *copy = malloc((size_t)(*count + 1) * sizeof *copy);
    memcpy(copy, x - before, (size_t)*count * sizeof *copy);
    return copy;
}

/* What is in the block is near what is expected, and beside it is what was there. */
static void assert_near(FtB_Block X, FtB_Block expected, const float *was, double bound, const char *what)
{
    int64_t count;
    float *is = copy_of(X, &count);
    const double *wanted = block_values(expected);
    const int64_t before = X->offset / (int64_t)sizeof(float);
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = k / X->ld, f = k % X->ld - before;
        if (f < 0 || f >= X->ncols) {
            assert_memory_equal(&is[k], &was[k], sizeof *is);
            continue;
        }
        const double got = is[k], of = wanted[i * expected->ld + f];
        if (!(fabs(got - of) <= bound) && !(isnan(got) && isnan(of)))
            fail_msg("%s: (%lld, %lld) of %lld x %lld is %.9g, not %.9g", what, (long long)i, (long long)f,
                     (long long)X->nrows, (long long)X->ncols, got, of);
    }
    free(is);
}

/* What is subtracted, dot(dC, V) and its mean, is some value_width's root; weights are rounded as often as
 * scores and rows are long, and as many rows as a column has entries are added. Errors of random cases come
 * to a seventh of it. */
static double bound_of(const shape *of, bool add)
{
    const double score = add ? 3 : (double)of->width + 3, terms = (double)(of->hub + of->value_width + 24);
    return 0x1p-27 * (score + 4 * sqrt(terms)) * (2 + sqrt((double)of->value_width)) *
           (1 + sqrt((double)of->nrows));
}

static void compare_wanted(const problem *p, const problem *w, const shape *of, bool add, double dropout,
                           int wanted)
{
    static const char *const names[] = {"dQ", "dK", "dV"};
    float *before[OPERANDS];
    int64_t count;
    char what[80];
    for (int n = 0; n < OPERANDS; n++)
        before[n] = copy_of(p->grad[n], &count);
    differentiate(p, add, dropout, wanted);
    for (int n = 0; n < OPERANDS; n++) {
        snprintf(what, sizeof what, "%s of %s", names[n], texts[add]);
        if (wanted >> n & 1) {
            assert_near(p->grad[n], w->grad[n], before[n], bound_of(of, add), what);
        } else {
            float *const after = copy_of(p->grad[n], &count);
            assert_memory_equal(after, before[n], (size_t)count * sizeof *after);
            free(after);
        }
        free(before[n]);
    }
}

static void compare(rng *r, const shape *of, bool add, double dropout, int odd)
{
    problem p = make(r, of, add, odd), w = widened(&p);
    attend(&w, add, dropout);
    attend(&p, add, dropout);
    const int ran = fake_gpu_launches();
    differentiate(&w, add, dropout, 7);
    assert_int_equal(fake_gpu_launches(), ran); /* in FP64: the host's */
    compare_wanted(&p, &w, of, add, dropout, 1 + (int)rng_below(r, 6));
    compare_wanted(&p, &w, of, add, dropout, 7);
    int64_t there[2];
    assert_ok(FtB_Context_moved(NULL, NULL, &there[0]));
    differentiate(&p, add, dropout, 7);
    assert_ok(FtB_Context_moved(NULL, NULL, &there[1]));
    if (fake_gpu_emulates() && of->offset + of->gap == 0 && odd == NONE)
        assert_int_equal(there[0], there[1]); /* what is there stays there */
    if (fake_gpu_emulates() && of->nrows > 0)
        assert_true(fake_gpu_launches() >= ran + 8); /* 2 or 3, 3, 3 */
    w.A = NULL;
    release(&p);
    release(&w);
}

/* Each variant, heads that are wider than a tile, scores narrower and wider than values, rows and columns
 * that are cut. */
static const shape shapes[] = {
    {20, 30, 1, 8, 8, 0, 0, 20},     {20, 30, 1, 32, 8, 0, 4, 20},   {20, 30, 1, 8, 140, 0, 0, 9},
    {20, 30, 1, 140, 260, 0, 0, 9},  {9, 30, 1, 150, 7, 0, 0, 9},    {20, 30, 3, 16, 16, 0, 0, 20},
    {20, 30, 3, 4, 20, 4, 0, 20},    {20, 30, 2, 6, 8, 0, 0, 20},    {9, 30, 5, 64, 40, 0, 0, 20},
    {20, 30, 1, 8, 8, 1, 3, 20},     {20, 30, 1, 3, 7, 0, 0, 20},    {20, 30, 1, 37, 2, 0, 0, 9},
    {9, 30, 2, 5, 70, 0, 0, 9},      {20, 30, 9, 5, 3, 0, 2, 20},    {20, 30, 3, 40, 40, 1, 0, 20},
    {40, 1100, 2, 4, 4, 0, 0, 1090}, {1100, 5, 2, 4, 8, 0, 0, 1090}, {3, 2100, 1, 1, 1, 0, 0, 2090},
    {2100, 4, 5, 2, 3, 0, 1, 2090},  {1, 1, 1, 4, 4, 0, 0, 1},       {0, 5, 1, 4, 4, 0, 0, 0},
    {5, 4, 2, 4, 4, 0, 0, 0},        {20, 30, 8, 8, 8, 0, 1, 20}};

static void all_shapes(void **state)
{
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
        for (int add = 0; add < 2; add++)
            if (shapes[n].hub < 1000 || add == (int)n % 2)
                compare(&r, &shapes[n], add, rng_below(&r, 2) ? 0.4 : 0, NONE);
}

static void odd_rows(void **state)
{
    const shape of = {8, 9, 2, 8, 8, 0, 0, 6};
    rng r = rng_new();
    (void)state;
    for (int odd = 0; odd < BLOCKS; odd++)
        for (int add = 0; add < 2; add++)
            compare(&r, &of, add, 0, odd);
}

static void random_shapes(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < rng_cases(8); n++) {
        const shape of = {1 + rng_below(&r, 30), 1 + rng_below(&r, 40), 1 + rng_below(&r, 6),
                          1 + rng_below(&r, 40), 1 + rng_below(&r, 40), rng_below(&r, 5),
                          rng_below(&r, 5),      rng_below(&r, 20)};
        compare(&r, &of, n % 2, n % 3 ? 0 : rng_unit(&r) * 0.4, NONE);
    }
}

/* Sources of scores that are -infinity, so that rows have none that count, or some. */
static void odd_scores(void **state)
{
    const shape of = {40, 12, 2, 1, 4, 0, 0, 9};
    rng r = rng_new();
    (void)state;
    problem p = make(&r, &of, true, NONE);
    float *k = block_values(p.of[K]);
    for (int64_t j = 0; j < of.ncols; j++)
        if (j % 12 != 5)
            k[j * p.of[K]->ld] = -INFINITY;
    assert_ok(FtB_Block_changed(p.of[K]));
    problem w = widened(&p);
    attend(&w, true, 0);
    attend(&p, true, 0);
    differentiate(&w, true, 0, 7);
    compare_wanted(&p, &w, &of, true, 0, 7);
    w.A = NULL;
    release(&p);
    release(&w);
}

/* A launch that fails: the host does it all again, for nothing that is written was read. */
static void failures(void **state)
{
    static const char *const turn[] = {"1", "2", "3", "4", "5"};
    const shape of = {1100, 1100, 1, 4, 4, 0, 0, 1090}; /* cut both ways: five launches */
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    problem p = make(&r, &of, false, NONE), w = widened(&p);
    attend(&w, false, 0);
    attend(&p, false, 0);
    differentiate(&w, false, 0, 7);
    for (int n = 0; n < 5; n++) {
        setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
        setenv("FAKE_CUDA_AT", turn[n], 1);
        compare_wanted(&p, &w, &of, false, 0, 7);
        assert_null(getenv("FAKE_CUDA_AT")); /* it was that many */
    }
    w.A = NULL;
    release(&p);
    release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(all_shapes, fake_gpu_clean),
                                       cmocka_unit_test_teardown(odd_rows, fake_gpu_clean),
                                       cmocka_unit_test_teardown(random_shapes, fake_gpu_clean),
                                       cmocka_unit_test_teardown(odd_scores, fake_gpu_clean),
                                       cmocka_unit_test_teardown(failures, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
