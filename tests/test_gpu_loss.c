/* Losses and their gradients on a GPU that does not exist, beside the host's within its functions' bounds;
 * the same bits at every run. */
#include "support/beside.h"
#include "support/check.h"

#include "cpu/nn/loss_run.h"
#include "gpu/gpu_verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t classes;

static void labels(rng *r, void *values, FtB_Type type, int64_t count)
{
    (void)type;
    for (int64_t k = 0; k < count; k++)
        ((int32_t *)values)[k] = (int32_t)rng_below(r, classes);
}

static void marks(rng *r, void *values, FtB_Type type, int64_t count)
{
    (void)type;
    for (int64_t k = 0; k < count; k++)
        ((uint8_t *)values)[k] = (uint8_t)(rng_below(r, 3) * (k > 0)) | (k == 0);
}

/* Far apart, too, so that exponentials overflow where nothing is done about it. */
static void wide(rng *r, void *values, FtB_Type type, int64_t count)
{
    rng_reals(r, values, type, count);
    for (int64_t k = 0; k < count; k += 3) {
        const double x = ftb_get_real(values, type, k) * 300;
        ftb_cast((char *)values + (size_t)k * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
}

/* What the device has is near what the host has, and what it had in the run before. */
static void compare(beside *b, void *before, double bound, const char *what)
{
    const size_t bytes = (size_t)b->count * FtB_Type_size(b->type);
    void *there = beside_fetch(b);
    if (fake_gpu_emulates())
        for (int64_t k = 0; k < b->count; k++) {
            const double x = ftb_get_real(there, b->type, k), y = ftb_get_real(b->host, b->type, k);
            if (!(fabs(x - y) <= bound * (1 + fabs(y))))
                fail_msg("%s: value %lld is %.9g, the host's %.9g", what, (long long)k, x, y);
        }
    if (*(char *)before)
        assert_memory_equal((char *)before + 1, there, bytes);
    *(char *)before = 1;
    memcpy((char *)before + 1, there, bytes);
    free(there);
    beside_free(b);
}

static void losses(void **state)
{
    static const char *const names[] = {"classes", "binary", "squared"};
    static const int64_t rows[] = {1, 2, 127, 128, 129, 1500, 5000};
    (void)state;
    if (!fake_gpu_emulates()) {
        printf("skipped: no kernels run here\n");
        return;
    }
    rng r = rng_new();
    for (int64_t n = 0; n < rng_cases(30); n++) {
        const FtB_Type type = rng_below(&r, 2) ? FTB_FP64 : FTB_FP32;
        const int64_t nrows = rows[rng_below(&r, sizeof rows / sizeof *rows)], what = rng_below(&r, 3),
                      gap = rng_below(&r, 3), masked = rng_below(&r, 2), add = rng_below(&r, 2);
        classes = 1 + rng_below(&r, 9);
        const int64_t ld = classes + gap, count = nrows * ld;
        const double bound = type == FTB_FP32 ? 4e-6 : 1e-13;
        char *before[3] = {calloc((size_t)count + 2, 8), calloc((size_t)count + 2, 8), calloc(3, 8)};
        const rng begin = r;
        for (int again = 0; again < 2; again++) {
            r = begin;
            beside x = beside_new(&r, type, count, wide), t = beside_new(&r, type, count, rng_reals),
                   of = beside_new(&r, FTB_INT32, nrows, labels),
                   mask = beside_new(&r, FTB_UINT8, nrows, marks), out = beside_new(&r, type, 1, rng_reals),
                   dout = beside_new(&r, type, 1, rng_reals), dx = beside_new(&r, type, count, rng_reals),
                   dt = beside_new(&r, type, count, rng_reals);
            int64_t counted = 0;
            for (int64_t i = 0; i < nrows; i++)
                counted += !masked || ((const uint8_t *)mask.host)[i];
            const int ran = fake_gpu_launches();
            for (int there = 0; there < 2; there++) {
                const ftb_loss_product p = {.ctx = ftb_context(),
                                            .what = (ftb_loss_form)what,
                                            .type = type,
                                            .targets = type,
                                            .nrows = nrows,
                                            .ncols = classes,
                                            .x = beside_at(&x, there, 0),
                                            .t = what ? beside_at(&t, there, 0) : NULL,
                                            .ldx = ld,
                                            .ldt = ld,
                                            .labels = beside_at(&of, there, 0),
                                            .mask = masked ? beside_at(&mask, there, 0) : NULL,
                                            .counted = counted,
                                            .out = beside_at(&out, there, 0),
                                            .dout = beside_at(&dout, there, 0),
                                            .dx = beside_at(&dx, there, 0),
                                            .dt = what && gap ? beside_at(&dt, there, 0) : NULL,
                                            .lddx = ld,
                                            .lddt = ld,
                                            .add_dx = add,
                                            .add_dt = !add};
                assert_true(ftb_gpu_loss_fits(&p));
                assert_ok(there ? ftb_gpu_loss(&p) : ftb_loss_run(&p));
                assert_ok(there ? ftb_gpu_loss_grad(&p) : ftb_loss_grad_run(&p));
            }
            compare(&dx, before[0], bound, names[what]);
            compare(&dt, before[1], bound, names[what]);
            compare(&out, before[2], bound * 10, names[what]);
            if (fake_gpu_emulates())
                assert_int_equal(fake_gpu_launches() - ran, 3);
            beside_free(&x);
            beside_free(&t);
            beside_free(&of);
            beside_free(&mask);
            beside_free(&dout);
        }
        for (int k = 0; k < 3; k++)
            free(before[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(losses, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
