/* Steps of optimisers on a GPU that does not exist, beside the host: the same bits, moments too. Sums of
 * squares within the rounding of their additions, the same in any order of blocks; what fails halfway has
 * written nothing. Optimizers' own calls train there. */
#include "support/beside.h"
#include "support/check.h"

#include "cpu/nn/update_run.h"
#include "featblas_nn.h"
#include "gpu/columns.h"
#include "gpu/gpu_verbs.h"
#include "gpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const FtB_Type reals[] = {FTB_FP32, FTB_FP64};

static int64_t some_count(rng *r)
{
    static const int64_t list[] = {0, 1, 2, 3, 4, 5, 255, 256, 257, 1023, 1024, 1025, 4099, 20000};
    return list[rng_below(r, sizeof list / sizeof *list)];
}

/* ---- steps */

static ftb_update some_rule(rng *r)
{
    return (ftb_update){.rate = 0.01 + rng_unit(r),
                        .decay = rng_below(r, 2) ? 0.1 * rng_unit(r) : 0,
                        .keep = rng_below(r, 2) ? 0.97 : 1,
                        .clip = rng_below(r, 2) ? 0.3 : INFINITY,
                        .scale = rng_below(r, 2) ? 0.7 : 1,
                        .beta1 = 0.9,
                        .beta2 = 0.999,
                        .root = 1 + rng_unit(r),
                        .eps = 1e-8,
                        .nesterov = rng_below(r, 2)};
}

/* Second moments are not negative. */
static void squares(rng *r, void *values, FtB_Type type, int64_t count)
{
    rng_reals(r, values, type, count);
    for (int64_t k = 0; k < count; k++) {
        const double x = ftb_get_real(values, type, k), square = x * x;
        ftb_cast((char *)values + (size_t)k * FtB_Type_size(type), type, &square, FTB_FP64, 1);
    }
}

static void step(rng *r)
{
    const FtB_Type type = reals[rng_below(r, 2)];
    const int64_t count = some_count(r), kind = rng_below(r, 3); /* SGD without and with momentum, Adam */
    const int64_t aside = rng_below(r, 12);                      /* which array begins aside, if one does */
    const ftb_update how = some_rule(r);
    beside of[4];
    for (int k = 0; k < 4; k++)
        of[k] = beside_new(r, type, count + 9, k == 3 ? squares : beside_odd);
    const int ran = fake_gpu_launches();
    for (int there = 0; there < 2; there++) {
        void *at[4];
        for (int k = 0; k < 4; k++)
            at[k] = beside_at(&of[k], there, k == aside ? 1 : 4);
        const ftb_update_product p = {.ctx = ftb_context(),
                                      .type = type,
                                      .count = count,
                                      .adam = kind == 2,
                                      .how = how,
                                      .gradient = at[0],
                                      .values = at[1],
                                      .first = kind > 0 ? at[2] : NULL,
                                      .second = kind == 2 ? at[3] : NULL};
        assert_ok(there ? ftb_gpu_update(&p) : ftb_update_run(&p));
    }
    static const char *const names[] = {"gradient", "values", "first moments", "second moments"};
    for (int k = 0; k < 4; k++) {
        char text[100];
        snprintf(text, sizeof text, "%s of kind %d, %lld values", names[k], (int)kind, (long long)count);
        beside_same(&of[k], text);
    }
    assert_int_equal(fake_gpu_launches() - ran, count > 0);
}

static void steps(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(300); n++)
        step(&r);
}

/* ---- sums of squares */

static ftb_sum_squares_product product_of(const beside *g, const beside *sum, double clip)
{
    return (ftb_sum_squares_product){.ctx = ftb_context(),
                                     .type = g->type,
                                     .count = g->count - 4, /* three before, one behind */
                                     .clip = clip,
                                     .gradient = beside_at(g, true, 3),
                                     .sum = beside_at(sum, true, 0)};
}

static double exact(const beside *g, int64_t count, double clip)
{
    enum { RUN = 1000 };
    long double sum = 0, run = 0;
    clip = g->type == FTB_FP32 ? (double)(float)clip : clip; /* as the step cuts */
    for (int64_t k = 0; k < count; k++) {
        const long double x = (long double)fmin(fmax(ftb_get_real(g->host, g->type, k + 3), -clip), clip);
        run += x * x;
        if (k % RUN == RUN - 1 || k + 1 == count) {
            sum += run;
            run = 0;
        }
    }
    return (double)sum;
}

static void sum(rng *r, int64_t count)
{
    const double clip = rng_below(r, 2) ? 0.3 : INFINITY;
    beside g = beside_new(r, reals[rng_below(r, 2)], count + 3, rng_reals),
           s = beside_new(r, FTB_FP64, 2, rng_reals);
    const ftb_sum_squares_product p = product_of(&g, &s, clip);
    double *got[2];
    const int ran = fake_gpu_launches();
    for (int n = 0; n < 2; n++) {
        assert_ok(ftb_gpu_sum_squares(&p));
        got[n] = beside_fetch(&s);
    }
    assert_int_equal(fake_gpu_launches() - ran, 4);
    assert_memory_equal(got[0], got[1], sizeof(double)); /* blocks came in another order */
    assert_memory_equal(&got[0][1], beside_at(&s, false, 1), sizeof(double));
    /* A square, what a thread adds of its part, two trees, and the exact sum's own. */
    const double depth =
        1 + (double)(count / (256 * FTB_COLUMN_PARTS_MOST) + FTB_COLUMN_PARTS_ROWS) + 8 + 1 + 8 + 2;
    const double expected = exact(&g, p.count, clip);
    if (!(fabs(got[0][0] - expected) <= depth * 0x1p-53 * expected))
        fail_msg("%lld values: %.17g, not %.17g", (long long)count, got[0][0], expected);
    free(got[0]);
    free(got[1]);
    beside_free(&g);
    beside_free(&s);
}

static void sums(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(60); n++)
        sum(&r, some_count(&r));
    if (fake_gpu_emulates())
        sum(&r, 300000); /* parts of more rows */
}

/* NaN and infinite gradients are seen in the sum, where they are not cut. */
static void odd_sums(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(40); n++) {
        beside g = beside_new(&r, reals[n % 2], 203, beside_odd), s = beside_new(&r, FTB_FP64, 1, rng_reals);
        ftb_sum_squares_product p = product_of(&g, &s, n % 3 ? INFINITY : 2);
        assert_ok(ftb_gpu_sum_squares(&p));
        double *got = beside_fetch(&s), expected;
        p.gradient = beside_at(&g, false, 3);
        p.sum = &expected;
        assert_ok(ftb_sum_squares_run(&p));
        if (isfinite(expected))
            assert_true(fabs(*got - expected) <= 1e-14 * expected);
        else
            assert_true(isnan(expected) ? isnan(*got) : *got == expected);
        free(got);
        beside_free(&g);
        beside_free(&s);
    }
}

/* Neither pass, nor room for what is between them: the sum stays as it was, for the host to make. */
static void failures(void **state)
{
    static const char *const calls[] = {"cuLaunchKernel", "cuLaunchKernel", "cuMemAlloc"};
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < 3; n++) {
        beside g = beside_new(&r, FTB_FP32, 70000 * (n + 1), rng_reals),
               s = beside_new(&r, FTB_FP64, 1, rng_reals);
        const ftb_sum_squares_product p = product_of(&g, &s, INFINITY);
        assert_ok(ftb_gpu_trim(ftb_device(ftb_context()))); /* no room is left from before */
        setenv("FAKE_CUDA_FAILS", calls[n], 1);
        setenv("FAKE_CUDA_AT", n == 1 ? "2" : "1", 1);
        assert_fails(FTB_NO_DEVICE, calls[n], ftb_gpu_sum_squares(&p));
        unsetenv("FAKE_CUDA_FAILS");
        unsetenv("FAKE_CUDA_AT");
        beside_same(&s, "a sum that was not made");
        beside_free(&g);
    }
}

/* ---- an optimizer's own calls */

/* Three steps of a rule; the norm, whose bits may be others, is below its limit. */
static void train(float *to, int64_t count, const char *device, FtB_Update rule)
{
    FtB_Parameter w;
    FtB_Optimizer o;
    FtB_Block W;
    rng r = rng_case(1);
    assert_ok(FtB_Context_set_device(NULL, device));
    assert_ok(FtB_Optimizer_new(&o, rule, FTB_OPTIMIZER_OPTIONS(.clip_value = 0.5, .clip_norm = 1e6)));
    assert_ok(FtB_Parameter_new(&w, "w", 1, count, FTB_FP32));
    assert_ok(FtB_Optimizer_add(o, &w, 1, NULL));
    assert_ok(FtB_Parameter_value(&W, w));
    rng_reals(&r, block_values(W), FTB_FP32, count);
    assert_ok(FtB_Block_changed(W));
    for (int step = 0; step < 3; step++) {
        FtB_Block G;
        assert_ok(FtB_Parameter_gradient(&G, w));
        rng_reals(&r, block_values(G), FTB_FP32, count);
        assert_ok(FtB_Block_changed(G));
        FtB_Block_free(&G);
        assert_ok(FtB_Optimizer_step(o));
    }
    memcpy(to, block_values(W), (size_t)count * sizeof *to);
    FtB_Block_free(&W);
    FtB_Parameter_free(&w);
    FtB_Optimizer_free(&o);
}

static void optimizers(void **state)
{
    enum { COUNT = 777 };
    static const FtB_Update rules[] = {FTB_SGD, FTB_ADAM, FTB_ADAMW};
    float there[COUNT], here[COUNT];
    (void)state;
    for (int n = 0; n < 3; n++) {
        train(here, COUNT, NULL, rules[n]);
        const int ran = fake_gpu_launches();
        train(there, COUNT, "gpu", rules[n]);
        assert_memory_equal(here, there, sizeof here);
        assert_true(!fake_gpu_emulates() || fake_gpu_launches() - ran >= 3 * 3); /* two passes and a step */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(steps, beside_clean), cmocka_unit_test_teardown(sums, beside_clean),
        cmocka_unit_test_teardown(odd_sums, beside_clean), cmocka_unit_test_teardown(failures, beside_clean),
        cmocka_unit_test_teardown(optimizers, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
