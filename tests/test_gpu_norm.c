/* Layer norm, batch norm and their gradients on a GPU that does not exist, beside the host's in FP64: rows
 * that lie apart, in place, added to what is there, with and without gain and shift; what is beside rows
 * stays as it is. */
#include "support/beside.h"
#include "support/check.h"

#include "cpu/nn/norm_run.h"
#include "gpu/gpu_verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef GrB_Info (*verb)(const ftb_norm_product *p);

enum { X, GAIN, SHIFT, Y, KEEP, MEAN, VARIANCE, DY, DX, DGAIN, DSHIFT, ARRAYS };

/* Of each array: what the GPU has, and the host's in FP64. */
typedef struct problem {
    FtB_Type type;
    ftb_norm_product p;
    beside of[ARRAYS];
    double *wide[ARRAYS];
    int64_t rows[ARRAYS], ld[ARRAYS];
} problem;

static void add(problem *q, rng *r, int which, int64_t rows, int64_t ld, FtB_Type type)
{
    q->rows[which] = rows;
    q->ld[which] = ld;
    q->of[which] = beside_new(r, type, rows * ld, rng_reals);
    q->wide[which] = malloc((size_t)(rows * ld + 1) * sizeof(double));
    ftb_cast(q->wide[which], FTB_FP64, q->of[which].host, type, rows * ld + 1);
    if (which == VARIANCE) /* positive */
        for (int64_t k = 0; k < rows * ld; k++) {
            q->wide[which][k] = fabs(q->wide[which][k]);
            ftb_cast(beside_at(&q->of[which], false, k), type, &q->wide[which][k], FTB_FP64, 1);
        }
    const ftb_backend *gpu = ftb_device(ftb_context());
    assert_ok(gpu->memory->put(gpu, ftb_context(), q->of[which].device, q->of[which].host,
                               rows * ld * (int64_t)FtB_Type_size(type)));
}

static problem make(rng *r, bool batch, int64_t nrows, int64_t ncols)
{
    problem q = {.type = rng_below(r, 2) ? FTB_FP32 : FTB_FP64};
    const FtB_Type kept = batch ? FTB_FP64 : q.type;
    for (int which = 0; which < ARRAYS; which++) {
        const bool block = which == X || which == Y || which == DY || which == DX;
        if (which == KEEP)
            add(&q, r, which, batch ? 2 : nrows, batch ? ncols : 2, kept);
        else
            add(&q, r, which, block ? nrows : 1, ncols + (block ? rng_below(r, 3) : 0), q.type);
    }
    q.p = (ftb_norm_product){.ctx = ftb_context(),
                             .nrows = nrows,
                             .ncols = ncols,
                             .ldx = q.ld[X],
                             .ldy = q.ld[Y],
                             .lddy = q.ld[DY],
                             .lddx = q.ld[DX],
                             .eps = 1e-3,
                             .momentum = 0.3};
    return q;
}

static void *at(const problem *q, bool there, int which)
{
    return there ? beside_at(&q->of[which], true, 0) : (void *)q->wide[which];
}

/* Sums of nrows or ncols terms, and what is made of them. */
static void compare(problem *q, int which, const char *what)
{
    const double unit = q->of[which].type == FTB_FP32 || q->type == FTB_FP32 ? 0x1p-24 : 0x1p-53,
                 bound = 400 * unit * (double)(q->p.nrows + 8);
    void *got = beside_fetch(&q->of[which]);
    const int64_t width = which == KEEP ? q->ld[which] : q->p.ncols;
    const size_t size = FtB_Type_size(q->of[which].type);
    for (int64_t k = 0; k < q->rows[which] * q->ld[which]; k++) {
        const double x = ftb_get_real(got, q->of[which].type, k), expected = q->wide[which][k];
        if (k % q->ld[which] >= width)
            assert_memory_equal((char *)got + (size_t)k * size, (char *)q->of[which].host + (size_t)k * size,
                                size);
        else if (!(fabs(x - expected) <= bound * (1 + fabs(expected))))
            fail_msg("%s of %lld x %lld: value %lld of array %d is %.17g, not %.17g", what,
                     (long long)q->p.nrows, (long long)q->p.ncols, (long long)k, which, x, expected);
    }
    free(got);
}

static void release(problem *q)
{
    for (int which = 0; which < ARRAYS; which++) {
        beside_free(&q->of[which]);
        free(q->wide[which]);
    }
}

static void run(problem *q, const ftb_norm_product *choice, bool batch, bool grad)
{
    static const verb verbs[2][2][2] = {
        {{ftb_layer_norm_run, ftb_gpu_layer_norm}, {ftb_layer_norm_grad_run, ftb_gpu_layer_norm_grad}},
        {{ftb_batch_norm_run, ftb_gpu_batch_norm}, {ftb_batch_norm_grad_run, ftb_gpu_batch_norm_grad}}};
    for (int there = 0; there < 2; there++) {
        ftb_norm_product p = *choice;
        p.type = there ? q->type : FTB_FP64;
        p.x = at(q, there, X);
        p.gain = choice->gain ? at(q, there, GAIN) : NULL;
        p.shift = choice->shift ? at(q, there, SHIFT) : NULL;
        if (!grad) {
            p.y = at(q, there, choice->y ? X : Y);
            p.ldy = choice->y ? p.ldx : p.ldy;
            p.keep = choice->keep ? at(q, there, KEEP) : NULL;
            p.running_mean = choice->running_mean ? at(q, there, MEAN) : NULL;
            p.running_variance = choice->running_mean ? at(q, there, VARIANCE) : NULL;
            p.mean = choice->running_mean ? NULL : at(q, there, MEAN);
            p.variance = choice->running_mean ? NULL : at(q, there, VARIANCE);
        } else {
            p.kept = at(q, there, KEEP);
            p.dy = at(q, there, DY);
            p.dx = !choice->dx ? NULL : at(q, there, choice->y ? DY : DX);
            p.lddx = choice->y ? p.lddy : p.lddx;
            p.dgain = choice->dgain ? at(q, there, DGAIN) : NULL;
            p.dshift = choice->dshift ? at(q, there, DSHIFT) : NULL;
        }
        assert_ok(verbs[batch][grad][there](&p));
    }
}

static void *some(rng *r) { return rng_below(r, 3) ? r : NULL; } /* any address will do */

static void one(rng *r, bool batch)
{
    static const int64_t rows[] = {2, 3, 40, 300, 2100}, widths[] = {1, 2, 7, 31, 32, 33, 70};
    const int64_t nrows = batch ? rows[rng_below(r, 5)] : 1 + rng_below(r, 20),
                  ncols = widths[rng_below(r, nrows > 1000 ? 3 : 7)];
    problem q = make(r, batch, nrows, ncols);
    const char *const what = batch ? "batch norm" : "layer norm";
    ftb_norm_product choice = q.p;
    choice.gain = some(r);
    choice.shift = some(r);
    choice.y = rng_below(r, 4) ? NULL : r; /* in place */
    choice.keep = some(r);
    choice.running_mean = batch ? some(r) : NULL;
    run(&q, &choice, batch, false);
    compare(&q, X, what);
    compare(&q, Y, what);
    compare(&q, MEAN, what);
    compare(&q, VARIANCE, what);
    if (choice.keep)
        compare(&q, KEEP, what);
    release(&q);

    q = make(r, batch, nrows, ncols); /* what is kept need not be x's */
    choice = q.p;
    choice.gain = some(r);
    choice.dx = some(r);
    choice.dgain = some(r);
    choice.dshift = some(r);
    choice.y = rng_below(r, 4) ? NULL : r; /* in place */
    choice.add_dx = !choice.y && rng_below(r, 2);
    choice.add_dgain = rng_below(r, 2);
    choice.add_dshift = rng_below(r, 2);
    run(&q, &choice, batch, true);
    compare(&q, DX, what);
    compare(&q, DY, what);
    compare(&q, DGAIN, what);
    compare(&q, DSHIFT, what);
    release(&q);
}

static void layers(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int64_t n = 0; fake_gpu_emulates() && n < rng_cases(40); n++)
        one(&r, false);
}

static void batches(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int64_t n = 0; fake_gpu_emulates() && n < rng_cases(40); n++)
        one(&r, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(layers, beside_clean),
                                       cmocka_unit_test_teardown(batches, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
