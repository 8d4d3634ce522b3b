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

/* What the device has is near what the host has, and what it had in the run before: `before` has its values
 * after a byte, which is 0 where there was none. */
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

typedef struct loss {
    FtB_Type type;
    ftb_loss_form what;
    int64_t nrows, ld;
    bool masked, add, target_gradient; /* what is written is added to */
} loss;

/* By the host and by the GPU. `before`: of dx, dt and out, for compare. */
static void run(rng *r, const loss *l, char *before[3])
{
    static const char *const names[] = {"classes", "binary", "squared"};
    const int64_t count = l->nrows * l->ld;
    const double bound = l->type == FTB_FP32 ? 4e-6 : 1e-13;
    beside x = beside_new(r, l->type, count, wide), t = beside_new(r, l->type, count, rng_reals),
           of = beside_new(r, FTB_INT32, l->nrows, labels), mask = beside_new(r, FTB_UINT8, l->nrows, marks),
           out = beside_new(r, l->type, 1, rng_reals), dout = beside_new(r, l->type, 1, rng_reals),
           dx = beside_new(r, l->type, count, rng_reals), dt = beside_new(r, l->type, count, rng_reals);
    int64_t counted = 0;
    for (int64_t i = 0; i < l->nrows; i++)
        counted += !l->masked || ((const uint8_t *)mask.host)[i];
    const int ran = fake_gpu_launches();
    for (int there = 0; there < 2; there++) {
        const ftb_loss_product p = {.ctx = ftb_context(),
                                    .what = l->what,
                                    .type = l->type,
                                    .targets = l->type,
                                    .nrows = l->nrows,
                                    .ncols = classes,
                                    .x = beside_at(&x, there, 0),
                                    .t = l->what ? beside_at(&t, there, 0) : NULL,
                                    .ldx = l->ld,
                                    .ldt = l->ld,
                                    .labels = beside_at(&of, there, 0),
                                    .mask = l->masked ? beside_at(&mask, there, 0) : NULL,
                                    .counted = counted,
                                    .out = beside_at(&out, there, 0),
                                    .dout = beside_at(&dout, there, 0),
                                    .dx = beside_at(&dx, there, 0),
                                    .dt = l->target_gradient ? beside_at(&dt, there, 0) : NULL,
                                    .lddx = l->ld,
                                    .lddt = l->ld,
                                    .add_dx = l->add,
                                    .add_dt = !l->add};
        assert_true(ftb_gpu_loss_fits(&p));
        assert_ok(there ? ftb_gpu_loss(&p) : ftb_loss_run(&p));
        assert_ok(there ? ftb_gpu_loss_grad(&p) : ftb_loss_grad_run(&p));
    }
    compare(&dx, before[0], bound, names[l->what]);
    compare(&dt, before[1], bound, names[l->what]);
    compare(&out, before[2], bound * 10, names[l->what]);
    assert_int_equal(fake_gpu_launches() - ran, 3);
    beside_free(&x);
    beside_free(&t);
    beside_free(&of);
    beside_free(&mask);
    beside_free(&dout);
}

static void losses(void **state)
{
    static const int64_t rows[] = {1, 2, 127, 128, 129, 1500, 5000};
    (void)state;
    if (!fake_gpu_emulates()) {
        printf("skipped: no kernels run here\n");
        return;
    }
    rng r = rng_new();
    for (int64_t n = 0; n < rng_cases(30); n++) {
        loss l = {.type = rng_below(&r, 2) ? FTB_FP64 : FTB_FP32,
                  .nrows = rows[rng_below(&r, sizeof rows / sizeof *rows)],
                  .what = (ftb_loss_form)rng_below(&r, 3)};
        const int64_t gap = rng_below(&r, 3);
        l.masked = rng_below(&r, 2);
        l.add = rng_below(&r, 2);
        l.target_gradient = l.what && gap;
        classes = 1 + rng_below(&r, 9);
        l.ld = classes + gap;
        const size_t count = (size_t)(l.nrows * l.ld);
        char *before[3] = {calloc(count + 2, 8), calloc(count + 2, 8), calloc(3, 8)};
        const rng begin = r;
        for (int again = 0; again < 2; again++) {
            r = begin;
            run(&r, &l, before);
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
