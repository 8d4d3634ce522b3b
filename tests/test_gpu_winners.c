/* What winning entries stand for, on a GPU that does not exist, beside the host: the values of their columns
 * to the bit, and the sums of rows into what won them, with columns that are cut, of which every entry or
 * none won, and with winners that are no entries. */
#include "support/beside.h"
#include "support/check.h"

#include "core/core.h"
#include "cpu/winners_run.h"
#include "gpu/gpu_verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void whole(rng *r, void *values, FtB_Type type, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        const double x = (double)rng_below(r, 9) - 4;
        ftb_cast((char *)values + (size_t)k * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
}

/* An entry of each row for each value: any of them, or the first; now and then none of the pattern's. */
static beside make_won(rng *r, const ftb_pattern *p, int64_t values, int64_t ld, bool first)
{
    static const int64_t odd[] = {-1, -7, INT64_MAX};
    const bool last = rng_below(r, 3) == 0; /* value alone */
    beside won = beside_new(r, FTB_INT64, p->nrows * ld, rng_reals);
    int64_t *host = won.host;
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t f = 0; f < values; f++) {
            const int64_t begin = p->rowptr[i], degree = p->rowptr[i + 1] - begin;
            int64_t e = degree == 0 ? -1 : first ? begin : begin + rng_below(r, degree);
            if (last && f + 1 < values)
                e = -1;
            if (!last && rng_below(r, 9) == 0)
                e = rng_below(r, 4) ? odd[rng_below(r, 3)] : p->nvals;
            host[i * ld + f] = e;
        }
    const ftb_backend *gpu = ftb_device(ftb_context());
    assert_ok(gpu->memory->put(gpu, ftb_context(), won.device, won.host, p->nrows * ld * 8));
    return won;
}

static void compare_one(rng *r, bool grad)
{
    static const FtB_Type types[] = {FTB_FP32, FTB_FP64, FTB_BF16, FTB_INT8, FTB_INT64};
    static const int64_t widths[] = {1, 2, 7, 8, 31, 33, 70};
    const int64_t hub = rng_below(r, 3) ? 9 : 1090, nrows = hub > 9 ? 1100 : 40;
    FtB_Matrix A = fake_gpu_matrix(r, nrows, 30, 0, hub);
    ftb_winners_product p = {.ctx = ftb_context(),
                             .p = A->pattern,
                             .values = widths[rng_below(r, hub > 9 ? 3 : 7)],
                             .type = types[rng_below(r, grad ? 2 : 5)]};
    p.ldwon = p.values + rng_below(r, 3);
    p.xvalues = !grad && p.values % 2 == 0 ? p.values / 2 : p.values;
    p.ldx = p.xvalues + rng_below(r, 3);
    const int64_t rows = grad ? 30 : nrows;
    beside won = make_won(r, A->pattern, p.values, p.ldwon, rng_below(r, 2)),
           x = beside_new(r, p.type, (grad ? nrows : 30) * p.ldx, grad ? whole : rng_reals),
           out = beside_new(r, p.type, rows * p.values, rng_reals), any = beside_new(r, FTB_BOOL, 30, whole);
    const int ran = fake_gpu_launches();
    assert_true(ftb_gpu_winners_fits(&p));
    for (int there = 0; there < 2; there++) {
        p.won = beside_at(&won, there, 0);
        p.x = beside_at(&x, there, 0);
        p.out = beside_at(&out, there, 0);
        p.any = beside_at(&any, there, 0);
        assert_ok(grad    ? there ? ftb_gpu_winners_grad(&p) : ftb_winners_grad_run(&p)
                     : there ? ftb_gpu_winners(&p)
                          : ftb_winners_run(&p));
    }
    beside_same(&out, grad ? "sums" : "values");
    beside_same(&any, "whether it won");
    assert_true(fake_gpu_launches() > ran);
    beside_free(&won);
    beside_free(&x);
    FtB_Matrix_free(&A);
}

static void values(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int64_t n = 0; fake_gpu_emulates() && n < rng_cases(30); n++)
        compare_one(&r, false);
}

static void sums(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int64_t n = 0; fake_gpu_emulates() && n < rng_cases(30); n++)
        compare_one(&r, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(values, beside_clean),
                                       cmocka_unit_test_teardown(sums, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
