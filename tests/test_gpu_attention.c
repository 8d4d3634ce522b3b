/* Fused attention on a GPU that does not exist (support/fake_gpu.h): every variant of the kernel, rows that
 * are cut, dropout, rows without weights and what is no number, beside the host's in FP64. */
#include "support/check.h"

#include "core/core.h"
#include "support/fake_gpu.h"
#include "support/planned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct shape {
    int64_t nrows, ncols, heads, width, value_width, offset, gap, hub;
    int shared; /* who has one head for all: 1: src and dst, 2: values */
} shape;

#define DOT "plus : dot(src, dst) * 0.5"
#define ADD "plus : leaky_relu(src + dst, 0.2)"

/* The operands, and the same in FP64, of which the host makes what is expected. */
typedef struct problem {
    FtB_Matrix A;
    FtB_Block Q, K, V, C, lse;
} problem;

static void release(problem *p)
{
    FtB_Block *const all[] = {&p->Q, &p->K, &p->V, &p->C, &p->lse};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        FtB_Block_free(all[n]);
    FtB_Matrix_free(&p->A);
}

static problem make(rng *r, const shape *of, bool add)
{
    const int64_t width = add ? 1 : of->width, heads = of->shared == 1 ? 1 : of->heads;
    problem p = {.A = fake_gpu_matrix(r, of->nrows, of->ncols, 0, of->hub)};
    p.Q = fake_gpu_block(r, of->nrows, heads, width, of->offset, of->gap, false);
    p.K = fake_gpu_block(r, of->ncols, heads, width, of->offset, of->gap, false);
    const bool odd = rng_below(r, 3) == 0; /* rows of V begin beside what is read four at a time */
    p.V = fake_gpu_block(r, of->ncols, of->shared == 2 ? 1 : of->heads, of->value_width, odd ? 1 : of->offset,
                         odd ? 3 : of->gap, false);
    p.C = fake_gpu_block(r, of->nrows, of->heads, of->value_width, rng_below(r, 3) ? of->offset : 1, of->gap,
                         false);
    assert_ok(FtB_Block_new(&p.lse, of->nrows, of->heads, FTB_FP32));
    return p;
}

static problem widened(const problem *p)
{
    return (problem){.A = p->A,
                     .Q = fake_gpu_wide(p->Q),
                     .K = fake_gpu_wide(p->K),
                     .V = fake_gpu_wide(p->V),
                     .C = fake_gpu_wide(p->C),
                     .lse = fake_gpu_wide(p->lse)};
}

static GrB_Info try_attend(const problem *p, bool add, double dropout, bool lse)
{
    const planned fused = {"fused", NULL, NULL};
    const FtB_Attention_options *options =
        FTB_ATTENTION_OPTIONS(.dropout = dropout, .seed = UINT64_C(0x123456789abcdef0),
                              .lse = lse ? p->lse : NULL);
    const char *const text = add ? ADD : DOT;
    FtB_Plan plan;
    FtB_Descriptor desc;
    assert_ok(
        FtB_attention_plan(&plan, p->C, p->A, NULL, text, p->Q, p->K, p->V, options, NULL, FTB_ESTIMATE));
    assert_ok(planned_force(plan, &fused));
    assert_ok(planned_descriptor(&desc, NULL, plan));
    GrB_Info info = FtB_attention(p->C, p->A, NULL, text, p->Q, p->K, p->V, options, desc);
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    return info;
}

static void attend(const problem *p, bool add, double dropout, bool lse)
{
    assert_ok(try_attend(p, add, dropout, lse));
}

/* Equal, within the bound, or both no number. */
static void assert_near(FtB_Block X, FtB_Block wanted, double bound, const char *what)
{
    const float *x = block_values(X);
    const double *w = block_values(wanted);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++) {
            const double got = x[i * X->ld + f], expected = w[i * wanted->ld + f];
            if (got != expected && !(fabs(got - expected) <= bound) && !(isnan(got) && isnan(expected)))
                fail_msg("%s: (%lld, %lld) of %lld x %lld is %.9g, not %.9g", what, (long long)i,
                         (long long)f, (long long)X->nrows, (long long)X->ncols, got, expected);
        }
}

/* What lies beside the result's rows is not written. */
static float *margins(FtB_Block C, int64_t *count)
{
    const int64_t before = C->offset / (int64_t)sizeof(float), gap = C->ld - C->ncols - before;
    float *kept = malloc((size_t)(C->nrows * (before + gap) + 1) * sizeof *kept), *c = block_values(C);
    *count = 0;
    for (int64_t i = 0; i < C->nrows; i++)
        for (int64_t f = -before; f < C->ncols + gap; f++)
            if (f < 0 || f >= C->ncols)
                kept[(*count)++] = c[i * C->ld + f];
    return kept;
}

/* A score is rounded as often as a head is wide, and so is a weight, as all of a row are at most 1 in sum;
 * its sums as often as they have terms. Values are below 1, or 1.7 where weights grow as others are dropped.
 */
static double bound_of(const shape *of, bool add)
{
    const double score = add ? 3 : 0.5 * (double)of->width * (double)(of->width + 3);
    return 1.7 * 2 * (score + (double)(of->hub + 24)) * 0x1p-24;
}

static void compare(rng *r, const shape *of, bool add, double dropout)
{
    problem p = make(r, of, add), w = widened(&p);
    int64_t there[2], count, same;
    int ran = fake_gpu_launches();
    attend(&w, add, dropout, true);
    float *beside = margins(p.C, &count);
    assert_int_equal(fake_gpu_launches(), ran); /* in FP64: the host's */
    for (int n = 0; n < 3; n++) {               /* what is there stays there */
        assert_ok(FtB_Context_moved(NULL, NULL, &there[n == 2]));
        attend(&p, add, dropout, n != 1);
    }
    if (fake_gpu_emulates() && p.C->offset + of->offset + of->gap == 0)
        assert_int_equal(there[0], there[1]);
    assert_near(p.C, w.C, bound_of(of, add), add ? ADD : DOT);
    assert_near(p.lse, w.lse, 2 * bound_of(of, add), "lse");
    if (fake_gpu_emulates() && of->nrows > 0)
        assert_true(fake_gpu_launches() >= ran + 3);
    float *after = margins(p.C, &same);
    assert_int_equal(count, same);
    assert_memory_equal(after, beside, (size_t)count * sizeof *after);
    free(beside);
    free(after);
    w.A = NULL;
    release(&p);
    release(&w);
}

/* Each variant, heads that are wider than a tile, scores narrower and wider than values, rows that are cut.
 */
static const shape shapes[] = {
    {20, 30, 1, 8, 8, 0, 0, 20, 0},     {20, 30, 1, 32, 8, 0, 4, 20, 0},   {20, 30, 1, 8, 140, 0, 0, 9, 0},
    {20, 30, 1, 140, 260, 0, 0, 9, 0},  {20, 30, 3, 16, 16, 0, 0, 20, 0},  {20, 30, 3, 4, 20, 4, 0, 20, 0},
    {9, 30, 5, 64, 40, 0, 0, 20, 0},    {20, 30, 1, 8, 8, 1, 3, 20, 0},    {20, 30, 1, 3, 7, 0, 0, 20, 0},
    {20, 30, 1, 37, 2, 0, 0, 9, 0},     {9, 30, 2, 5, 70, 0, 0, 9, 0},     {20, 30, 9, 5, 3, 0, 2, 20, 0},
    {20, 30, 3, 40, 40, 1, 0, 20, 0},   {5, 1100, 2, 4, 4, 0, 0, 1090, 0}, {3, 3100, 1, 1, 1, 0, 0, 3090, 0},
    {4, 2100, 5, 2, 30, 0, 1, 2090, 0}, {20, 30, 3, 8, 8, 0, 0, 20, 1},    {20, 30, 9, 3, 5, 0, 0, 20, 2},
    {1, 1, 1, 4, 4, 0, 0, 1, 0},        {0, 5, 1, 4, 4, 0, 0, 0, 0},       {5, 4, 2, 4, 4, 0, 0, 0, 0},
    {20, 30, 8, 8, 8, 0, 1, 20, 0}};

static void all_shapes(void **state)
{
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
        for (int add = 0; add < 2; add++)
            for (int drops = 0; drops < 2; drops++)
                compare(&r, &shapes[n], add, drops ? 0.4 : 0);
}

static void random_shapes(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < rng_cases(60); n++) {
        const shape of = {1 + rng_below(&r, 30), 1 + rng_below(&r, 40), 1 + rng_below(&r, 6),
                          1 + rng_below(&r, 40), 1 + rng_below(&r, 40), rng_below(&r, 5),
                          rng_below(&r, 5),      rng_below(&r, 20),     (int)rng_below(&r, 3)};
        compare(&r, &of, n % 2, n % 3 ? 0 : rng_unit(&r) * 0.4);
    }
}

/* Sources of scores that are -infinity, so that rows have none that count, or some; and no numbers, which
 * become those of all heads' values of the rows that have them. */
static void odd_scores(void **state)
{
    static const shape list[] = {{40, 12, 2, 1, 4, 0, 0, 9, 0}, {5, 2100, 1, 1, 8, 0, 0, 2090, 0}};
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < 2; n++)
        for (int nan = 0; nan < 3; nan++) {
            problem p = make(&r, &list[n], true), w;
            float *k = block_values(p.K);
            for (int64_t j = 0; j < list[n].ncols; j++)
                if (n == 0 ? j % 12 != 5
                           : nan != 0 || j < 1500) /* the first piece of the hub's row has none */
                    k[j * p.K->ld] = -INFINITY;
            if (nan == 1)
                k[7 * p.K->ld] = NAN;
            assert_ok(FtB_Block_changed(p.K));
            w = widened(&p);
            const int ran = fake_gpu_launches();
            attend(&w, true, 0, true);
            attend(&p, true, 0, true);
            assert_near(p.C, w.C, bound_of(&list[n], true), "odd scores");
            assert_near(p.lse, w.lse, 2 * bound_of(&list[n], true), "lse of odd scores");
            assert_int_equal(fake_gpu_launches() > ran, fake_gpu_emulates());
            w.A = NULL;
            release(&p);
            release(&w);
        }
}

/* Scores of thousands, which no exponential holds but that of a difference. */
static void great_scores(void **state)
{
    const shape of = {20, 2100, 3, 1, 4, 0, 0, 2090, 0};
    rng r = rng_new();
    (void)state;
    problem p = make(&r, &of, true), w;
    float *k = block_values(p.K);
    for (int64_t j = 0; j < of.ncols; j++)
        for (int64_t h = 0; h < of.heads; h++)
            k[j * p.K->ld + h] = floorf(k[j * p.K->ld + h] * 4000);
    float *q = block_values(p.Q);
    for (int64_t i = 0; i < of.nrows * of.heads; i++)
        q[i] = floorf(q[i] * 16);
    assert_ok(FtB_Block_changed(p.K));
    assert_ok(FtB_Block_changed(p.Q));
    w = widened(&p);
    attend(&w, true, 0, true);
    attend(&p, true, 0, true);
    assert_near(p.C, w.C, bound_of(&of, true) + 4016 * 0x1p-22, "great scores");
    assert_near(p.lse, w.lse, 4016 * 0x1p-21, "lse of great scores");
    w.A = NULL;
    release(&p);
    release(&w);
}

/* A launch that fails: the host does it, what was begun too, for attention reads nothing that it writes. */
static void failures(void **state)
{
    const shape of = {5, 1100, 1, 4, 4, 0, 0, 1090, 0};
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    problem p = make(&r, &of, false), w = widened(&p);
    attend(&w, false, 0, true);
    attend(&p, false, 0, true);
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    attend(&p, false, 0, true);
    unsetenv("FAKE_CUDA_FAILS");
    assert_near(p.C, w.C, bound_of(&of, false), "by the host");
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    setenv("FAKE_CUDA_AT", "2", 1);
    attend(&p, false, 0, true);
    unsetenv("FAKE_CUDA_FAILS");
    unsetenv("FAKE_CUDA_AT");
    assert_near(p.C, w.C, bound_of(&of, false), "begun, and by the host");
    w.A = NULL;
    release(&p);
    release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(all_shapes, fake_gpu_clean),
                                       cmocka_unit_test_teardown(random_shapes, fake_gpu_clean),
                                       cmocka_unit_test_teardown(odd_scores, fake_gpu_clean),
                                       cmocka_unit_test_teardown(great_scores, fake_gpu_clean),
                                       cmocka_unit_test_teardown(failures, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
