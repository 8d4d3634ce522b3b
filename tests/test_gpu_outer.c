/* Sums of rows, and of rows' outer products, on a GPU that does not exist, beside slow loops in FP64; where
 * they are added to what is there, and where there are none. */
#include "support/beside.h"
#include "support/check.h"

#include "core/core.h"
#include "gpu/gpu_verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const FtB_Type types[] = {FTB_FP32, FTB_FP64};

static double at(const beside *b, int64_t k) { return ftb_get_real(b->host, b->type, k); }

static void compare(const ftb_outer_product *p, const beside *l, const beside *r, const beside *sum)
{
    double *got = beside_fetch(sum);
    for (int64_t x = 0; x < p->a; x++)
        for (int64_t y = 0; y < p->b; y++) {
            const int64_t cell = x * p->b + y;
            double expected = p->add ? at(sum, cell) : 0, size = fabs(expected);
            for (int64_t t = 0; t < p->items; t++) {
                const double term = (p->ltype ? at(l, t * p->a + x) : 1) * at(r, t * p->b + y);
                expected += term;
                size += fabs(term);
            }
            if (!(fabs(got[cell] - expected) <= 0x1p-53 * 64 * size))
                fail_msg("%lld items, %lld x %lld: (%lld, %lld) is %.17g, not %.17g", (long long)p->items,
                         (long long)p->a, (long long)p->b, (long long)x, (long long)y, got[cell], expected);
        }
    free(got);
}

static void sum_one(rng *r, bool left, bool add)
{
    static const int64_t counts[] = {0, 1, 7, 300, 2500}, widths[] = {1, 2, 7, 8, 31, 33};
    ftb_outer_product p = {.ctx = ftb_context(),
                           .items = counts[rng_below(r, 5)],
                           .a = left ? widths[rng_below(r, 6)] : 1,
                           .b = widths[rng_below(r, 6)],
                           .ltype = left ? types[rng_below(r, 2)] : (FtB_Type)0,
                           .rtype = types[rng_below(r, 2)],
                           .add = add};
    beside l = beside_new(r, left ? p.ltype : FTB_FP32, p.items * p.a, rng_reals),
           x = beside_new(r, p.rtype, p.items * p.b, rng_reals),
           sum = beside_new(r, FTB_FP64, p.a * p.b, rng_reals);
    const int ran = fake_gpu_launches();
    p.l = left ? beside_at(&l, true, 0) : NULL;
    p.r = beside_at(&x, true, 0);
    p.sum = beside_at(&sum, true, 0);
    assert_true(ftb_gpu_outer_fits(&p));
    assert_ok(ftb_gpu_outer(&p));
    compare(&p, &l, &x, &sum);
    assert_int_equal(fake_gpu_launches() - ran, 2);
    beside_free(&l);
    beside_free(&x);
    beside_free(&sum);
}

static void sums(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int64_t n = 0; fake_gpu_emulates() && n < rng_cases(40); n++)
        sum_one(&r, n % 2, n / 2 % 2);
}

/* What is no real, and results that nothing could hold. */
static void not_there(void **state)
{
    const ftb_outer_product
        whole = {.ctx = ftb_context(), .a = 1, .b = 1, .rtype = FTB_INT64},
        left = {.ctx = ftb_context(), .a = 1, .b = 1, .ltype = FTB_INT64, .rtype = FTB_FP32},
        large = {.ctx = ftb_context(), .a = INT64_MAX / 2, .b = 3, .ltype = FTB_FP32, .rtype = FTB_FP32};
    (void)state;
    assert_false(ftb_gpu_outer_fits(&whole));
    assert_false(ftb_gpu_outer_fits(&left));
    assert_false(ftb_gpu_outer_fits(&large));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(sums, beside_clean),
                                       cmocka_unit_test_teardown(not_there, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
