/* Softmax of entries on a GPU that does not exist (support/fake_gpu.h), by row, by column, its gradient, and
 * with dropout as attention in steps asks for it: beside the host's in FP64. */
#include "support/check.h"

#include "core/core.h"
#include "support/fake_gpu.h"
#include "support/planned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct shape {
    int64_t nrows, ncols, heads, hub;
} shape;

static const shape shapes[] = {{20, 30, 1, 9},     {20, 30, 3, 20},    {1, 40, 8, 40},
                               {60, 3, 37, 60},    {7, 9, 130, 7},     {6, 1100, 2, 1100},
                               {1100, 6, 1, 1100}, {3, 3100, 5, 3090}, {400, 5, 4, 400}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Scores in (-4, 4); of every third row -infinity alone, and now and then one elsewhere. */
static void make_scores(rng *r, FtB_Matrix A, bool odd)
{
    float *w = matrix_values(A);
    const ftb_pattern *p = A->pattern;
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t k = p->rowptr[i] * A->width; k < p->rowptr[i + 1] * A->width; k++) {
            w[k] *= 4;
            if (odd && (i % 3 == 0 || rng_below(r, 8) == 0))
                w[k] = -INFINITY;
            if (odd && rng_below(r, 97) == 0)
                w[k] = rng_below(r, 2) ? NAN : INFINITY;
        }
    assert_ok(FtB_Matrix_changed(A));
}

/* Got, within `relative` of what it is and `absolute`, or as far from numbers. */
static void assert_near(FtB_Matrix S, FtB_Matrix wanted, double relative, const double *absolute)
{
    const float *got = matrix_values(S);
    const double *expected = matrix_values(wanted);
    for (int64_t k = 0; k < S->pattern->nvals * S->width; k++) {
        const double bound = relative * fabs(expected[k]) + (absolute ? absolute[k] : 0x1p-126);
        if (!(fabs(got[k] - expected[k]) <= bound) && !(isnan(got[k]) && isnan(expected[k])))
            fail_msg("value %lld of %lld x %lld: %.9g, not %.9g", (long long)k, (long long)S->pattern->nrows,
                     (long long)S->width, got[k], expected[k]);
    }
}

/* A difference of scores is rounded, which the exponential multiplies by as much as it is; a sum as often as
 * it has terms. */
static double relative_of(const shape *of) { return ((double)(of->hub + 20) + 2 * 8) * 0x1p-24; }

static void normalise(rng *r, const shape *of, FtB_By by, bool in_place, bool odd)
{
    FtB_Matrix A = fake_gpu_matrix(r, of->nrows, of->ncols, of->heads, of->hub), W, S, wanted;
    int64_t home[2], there[2];
    make_scores(r, A, odd);
    W = fake_gpu_wide_matrix(A);
    assert_ok(FtB_Matrix_like(&wanted, A, of->heads, FTB_FP64));
    assert_ok(FtB_Matrix_like(&S, A, of->heads, FTB_FP32));
    int ran = fake_gpu_launches();
    assert_ok(FtB_softmax(wanted, W, by));
    assert_int_equal(fake_gpu_launches(), ran); /* in FP64: the host's */
    if (!in_place) {                            /* what is there stays there */
        assert_ok(FtB_softmax(S, A, by));
        assert_ok(FtB_Context_moved(NULL, &home[0], &there[0]));
        assert_ok(FtB_softmax(S, A, by));
        assert_ok(FtB_Context_moved(NULL, &home[1], &there[1]));
        if (fake_gpu_emulates()) {
            assert_int_equal(home[0], home[1]);
            assert_int_equal(there[0], there[1]);
        }
    } else {
        assert_ok(FtB_softmax(A, A, by));
    }
    assert_near(in_place ? A : S, wanted, relative_of(of), NULL);
    assert_int_equal(fake_gpu_launches() > ran, fake_gpu_emulates() && A->pattern->nvals > 0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&wanted);
}

static void forward(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < SHAPES; n++)
        for (int by = 0; by < 2; by++)
            for (int k = 0; k < 4; k++)
                normalise(&r, &shapes[n], (FtB_By)by, k % 2, k / 2);
}

/* How far rounding may lead: s (d - sum of s d), whose sum has as many terms as the row or column. */
static double *bounds_of(FtB_Matrix S, FtB_Matrix D, const shape *of, FtB_By by)
{
    const ftb_pattern *p = S->pattern;
    const int64_t groups = by == FTB_BY_ROW ? p->nrows : p->ncols;
    const float *s = matrix_values(S), *d = matrix_values(D);
    double *size = calloc((size_t)(groups * of->heads + 1), sizeof *size);
    double *bound = calloc((size_t)(p->nvals * of->heads + 1), sizeof *bound);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < p->nrows; i++)
            for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
                for (int64_t h = 0; h < of->heads; h++) {
                    const int64_t k = e * of->heads + h;
                    double *of_group = &size[(by == FTB_BY_ROW ? i : ftb_col(p, e)) * of->heads + h];
                    if (pass == 0)
                        *of_group += fabs((double)s[k] * d[k]);
                    else
                        bound[k] = fabs((double)s[k]) * 0x1p-24 *
                                   ((double)(of->hub + 8) * *of_group + 3 * fabs((double)d[k]));
                }
    free(size);
    return bound;
}

static void gradient(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < SHAPES; n++)
        for (int by = 0; by < 2; by++) {
            const shape *of = &shapes[n];
            FtB_Matrix S = fake_gpu_matrix(&r, of->nrows, of->ncols, of->heads, of->hub), W, D, V, G, wanted;
            assert_ok(FtB_Matrix_like(&D, S, of->heads, FTB_FP32));
            rng_reals(&r, matrix_values(D), FTB_FP32, S->pattern->nvals * of->heads);
            W = fake_gpu_wide_matrix(S);
            V = fake_gpu_wide_matrix(D);
            assert_ok(FtB_Matrix_like(&G, S, of->heads, FTB_FP32));
            assert_ok(FtB_Matrix_like(&wanted, S, of->heads, FTB_FP64));
            assert_ok(FtB_softmax_grad(wanted, W, V, (FtB_By)by));
            double *bound = bounds_of(S, D, of, (FtB_By)by);
            const int ran = fake_gpu_launches();
            assert_ok(FtB_softmax_grad(G, S, D, (FtB_By)by));
            assert_near(G, wanted, 0, bound);
            assert_ok(FtB_softmax_grad(D, S, D, (FtB_By)by)); /* in place */
            assert_memory_equal(matrix_values(D), matrix_values(G),
                                (size_t)(S->pattern->nvals * of->heads) * sizeof(float));
            assert_int_equal(fake_gpu_launches() > ran, fake_gpu_emulates());
            free(bound);
            FtB_Matrix *all[] = {&S, &W, &D, &V, &G, &wanted};
            for (size_t k = 0; k < sizeof all / sizeof *all; k++)
                FtB_Matrix_free(all[k]);
        }
}

static void assert_close_blocks(FtB_Block X, FtB_Block wanted, double bound)
{
    const float *x = block_values(X);
    const double *w = block_values(wanted);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            if (x[i * X->ld + f] != w[i * wanted->ld + f] && /* -infinity: rows without entries */
                !(fabs(x[i * X->ld + f] - w[i * wanted->ld + f]) <= bound))
                fail_msg("(%lld, %lld): %.9g, not %.9g", (long long)i, (long long)f, x[i * X->ld + f],
                         w[i * wanted->ld + f]);
}

static void attend(FtB_Block C, FtB_Matrix A, FtB_Block Q, FtB_Block K, FtB_Block V, FtB_Block lse,
                   double dropout)
{
    const FtB_Attention_options *options =
        FTB_ATTENTION_OPTIONS(.dropout = dropout, .seed = UINT64_C(0x123456789abcdef0), .lse = lse);
    const planned staged = {"staged", NULL, NULL};
    FtB_Plan plan;
    FtB_Descriptor desc;
    assert_ok(FtB_attention_plan(&plan, C, A, NULL, FTB_PLUS_DOT, Q, K, V, options, NULL, FTB_ESTIMATE));
    assert_ok(planned_force(plan, &staged));
    assert_ok(planned_descriptor(&desc, NULL, plan));
    assert_ok(FtB_attention(C, A, NULL, FTB_PLUS_DOT, Q, K, V, options, desc));
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
}

/* Scores, softmax with dropout and the log of sums, a product. Weights are at most 1 / (1 - 0.4), values at
 * most 1; a score is rounded as often as a head is wide. */
static void dropout(void **state)
{
    static const shape list[] = {{20, 30, 1, 9}, {20, 30, 6, 20}, {5, 1100, 9, 1090}};
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < 3; n++)
        for (int drops = 0; drops < 2; drops++) {
            const shape *of = &list[n];
            const double unit = (double)(of->hub + 40) * 0x1p-24;
            FtB_Matrix A = fake_gpu_matrix(&r, of->nrows, of->ncols, 0, of->hub);
            FtB_Block Q = fake_gpu_block(&r, of->nrows, of->heads, 3, 0, 0, false),
                      K = fake_gpu_block(&r, of->ncols, of->heads, 3, 0, 0, false),
                      V = fake_gpu_block(&r, of->ncols, of->heads, 4, 0, 0, false), C, E, lse, wlse;
            FtB_Block wide[] = {fake_gpu_wide(Q), fake_gpu_wide(K), fake_gpu_wide(V)};
            assert_ok(FtB_Block_new(&C, of->nrows, of->heads * 4, FTB_FP32));
            assert_ok(FtB_Block_new(&E, of->nrows, of->heads * 4, FTB_FP64));
            assert_ok(FtB_Block_new(&lse, of->nrows, of->heads, FTB_FP32));
            assert_ok(FtB_Block_new(&wlse, of->nrows, of->heads, FTB_FP64));
            attend(E, A, wide[0], wide[1], wide[2], wlse, drops ? 0.4 : 0);
            const int ran = fake_gpu_launches();
            attend(C, A, Q, K, V, lse, drops ? 0.4 : 0);
            assert_close_blocks(C, E, 4 * unit);
            assert_close_blocks(lse, wlse, 10 * unit);
            assert_true(!fake_gpu_emulates() || fake_gpu_launches() >= ran + 2);
            FtB_Block *all[] = {&Q, &K, &V, &C, &E, &lse, &wlse, &wide[0], &wide[1], &wide[2]};
            for (size_t k = 0; k < sizeof all / sizeof *all; k++)
                FtB_Block_free(all[k]);
            FtB_Matrix_free(&A);
        }
}

/* A launch that fails: the host does it, but for what was begun in place. */
static void failures(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    FtB_Matrix A = fake_gpu_matrix(&r, 5, 1100, 1, 1090), W = fake_gpu_wide_matrix(A), S, wanted;
    assert_ok(FtB_Matrix_like(&S, A, 1, FTB_FP32));
    assert_ok(FtB_Matrix_like(&wanted, A, 1, FTB_FP64));
    assert_ok(FtB_softmax(wanted, W, FTB_BY_ROW));
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    assert_ok(FtB_softmax(S, A, FTB_BY_ROW));
    unsetenv("FAKE_CUDA_FAILS");
    assert_near(S, wanted, 2000 * 0x1p-24, NULL);
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    setenv("FAKE_CUDA_AT", "2", 1);
    assert_ok(FtB_softmax(S, A, FTB_BY_ROW));
    unsetenv("FAKE_CUDA_FAILS");
    assert_near(S, wanted, 2000 * 0x1p-24, NULL);
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    setenv("FAKE_CUDA_AT", "2", 1);
    assert_fails(GrB_PANIC, "half of a product was done: gpu:0: cuLaunchKernel fails",
                 FtB_softmax(A, A, FTB_BY_ROW));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(forward, fake_gpu_clean),
                                       cmocka_unit_test_teardown(gradient, fake_gpu_clean),
                                       cmocka_unit_test_teardown(dropout, fake_gpu_clean),
                                       cmocka_unit_test_teardown(failures, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
