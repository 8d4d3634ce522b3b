/* Dense products on a GPU that does not exist, by our kernel and by a cuBLAS that does not exist either,
 * beside sums in long double: within the rounding of their terms, the same bits at every run; nothing beside
 * C is written, and of cuBLAS nothing is asked that it does not do (support/fake_cuda/fake_cublas.c). */
#include "support/beside.h"
#include "support/check.h"

#include "gpu/dense_ways.h"
#include "gpu/gpu_verbs.h"
#include "support/fakes.h"
#include "support/real_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dense_case {
    ftb_dense_product p; /* without addresses */
    int64_t rows[2], cols[2];
    FtB_Precision precision; /* that cuBLAS may round operands to */
} dense_case;

static int64_t some_size(rng *r)
{
    static const int64_t list[] = {1, 2, 15, 16, 17, 63, 64, 65, 100};
    return list[rng_below(r, sizeof list / sizeof *list)];
}

/* How operands lie, a little apart. */
static void lay_out(rng *r, dense_case *c)
{
    const ftb_dense_product *p = &c->p;
    c->rows[0] = p->what == FTB_ATB ? p->inner : p->nrows;
    c->cols[0] = p->what == FTB_ATB ? p->nrows : p->inner;
    c->rows[1] = p->what == FTB_ABT ? p->ncols : p->inner;
    c->cols[1] = p->what == FTB_ABT ? p->inner : p->ncols;
    c->p.lda = c->cols[0] + rng_below(r, 3);
    c->p.ldb = c->cols[1] + rng_below(r, 3);
    c->p.ldc = p->ncols + rng_below(r, 3);
}

static dense_case some_case(rng *r)
{
    const int64_t inner = rng_below(r, 3) ? rng_below(r, 70) : 1024 + rng_below(r, 600), m = some_size(r),
                  n = some_size(r);
    dense_case c = {.p = {.ctx = ftb_context(),
                          .what = (ftb_dense_form)rng_below(r, 3),
                          .type = rng_below(r, 2) ? FTB_FP64 : FTB_FP32,
                          .nrows = inner > 600 ? ftb_min(m, 5) : m,
                          .ncols = inner > 600 ? ftb_min(n, 70) : n,
                          .inner = inner,
                          .add = rng_below(r, 2)}};
    c.precision = (FtB_Precision)rng_below(r, 4);
    if (rng_below(r, 20) == 0)
        c.p.nrows = 0;
    lay_out(r, &c);
    return c;
}

static double term(const ftb_dense_product *p, const void *a, const void *b, int64_t i, int64_t j, int64_t t,
                   double *y)
{
    *y = ftb_get_real(b, p->type, p->what == FTB_ABT ? j * p->ldb + t : t * p->ldb + j);
    return ftb_get_real(a, p->type, p->what == FTB_ATB ? t * p->lda + i : i * p->lda + t);
}

static void check(const dense_case *c, const void *a, const void *b, const void *before, const void *after,
                  int64_t count)
{
    const ftb_dense_product *p = &c->p;
    const double unit = p->type == FTB_FP32 ? 0x1p-24 : 0x1p-53;
    const double u = p->type != FTB_FP32 || c->precision == FTB_PRECISION_FP32 ? 0
                     : c->precision == FTB_PRECISION_BF16                      ? 0x1p-8
                                                                               : 0x1p-10;
    const size_t size = FtB_Type_size(p->type);
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = k / p->ldc, j = k % p->ldc;
        long double sum = 0, most = 0;
        if (i >= p->nrows || j >= p->ncols) {
            assert_memory_equal((const char *)after + (size_t)k * size,
                                (const char *)before + (size_t)k * size, size);
            continue;
        }
        if (p->add)
            sum = ftb_get_real(before, p->type, k);
        most = fabsl(sum);
        for (int64_t t = 0; t < p->inner; t++) {
            double y;
            const long double x = term(p, a, b, i, j, t, &y);
            sum += x * y;
            most += fabsl(x * y);
        }
        const double found = ftb_get_real(after, p->type, k);
        const long double bound = (long double)unit * (long double)(p->inner + 66) + u * (2 + u);
        if (!(fabsl(found - sum) <= bound * most))
            fail_msg("form %d, %lld x %lld over %lld%s: (%lld, %lld) is %.9g, expected %.9g", (int)p->what,
                     (long long)p->nrows, (long long)p->ncols, (long long)p->inner, p->add ? ", added" : "",
                     (long long)i, (long long)j, found, (double)sum);
    }
}

static int start(void **state)
{
    if (!real_gpu())
        setenv("FEATBLAS_CUBLAS", fake_path("fake_cublas"), 1);
    return fake_gpu_start(state);
}

static ftb_gpu_device *device(void) { return ftb_gpu_of(ftb_device(ftb_context())); }

static int (*by_cublas)(void), (*rounded)(void);

/* Twice, by our kernel or by cuBLAS. */
static void try_one(rng *r, const dense_case *c, bool cublas)
{
    const int64_t count = (c->p.nrows + 1) * c->p.ldc;
    beside a = beside_new(r, c->p.type, c->rows[0] * c->p.lda + 1, rng_reals),
           b = beside_new(r, c->p.type, c->rows[1] * c->p.ldb + 1, rng_reals);
    rng again = *r;
    beside first = beside_new(r, c->p.type, count, rng_reals),
           second = beside_new(&again, c->p.type, count, rng_reals);
    const int ran = fake_gpu_launches(), made = by_cublas(), before = rounded();
    assert_ok(FtB_Context_set_matmul_precision(NULL, c->precision));
    assert_ok(FtB_Context_set_deterministic(NULL, !cublas)); /* whatever the rule says of the shape */
    for (int k = 0; k < 2; k++) {
        ftb_dense_product p = c->p;
        p.a = beside_at(&a, true, 0);
        p.b = beside_at(&b, true, 0);
        p.c = beside_at(k ? &second : &first, true, 0);
        assert_ok(cublas ? ftb_gpu_cublas_dense(device(), &p) : ftb_gpu_dense(&p));
    }
    assert_ok(FtB_Context_set_deterministic(NULL, false));
    void *here = beside_fetch(&first), *there = beside_fetch(&second);
    /* What is long is cut, and joined by another launch. */
    assert_true(cublas || c->p.nrows == 0 || fake_gpu_launches() - ran == (c->p.inner >= 1024 ? 4 : 2));
    const bool rounds =
        cublas && c->p.type == FTB_FP32 && c->precision != FTB_PRECISION_FP32; /* our kernel never */
    assert_true(real_gpu() || by_cublas() - made == (cublas ? 2 : 0));
    assert_true(real_gpu() || rounded() - before == (rounds ? 2 : 0));
    check(c, beside_at(&a, false, 0), beside_at(&b, false, 0), beside_at(&first, false, 0), here, count);
    assert_memory_equal(here, there, (size_t)count * FtB_Type_size(c->p.type));
    free(here);
    free(there);
    beside_free(&a);
    beside_free(&b);
    beside_free(&first);
    beside_free(&second);
}

static void products(void **state)
{
    (void)state;
    fake_find("fake_cublas", "fake_cublas_products", &by_cublas);
    fake_find("fake_cublas", "fake_cublas_rounded", &rounded);
    const bool ready = ftb_gpu_cublas_ready(device());
    assert_true(ready || real_gpu());
    if (!fake_gpu_emulates()) {
        printf("skipped: no kernels run here\n");
        return;
    }
    rng r = rng_new();
    for (int64_t n = 0; n < rng_cases(24); n++) {
        const dense_case c = some_case(&r);
        try_one(&r, &c, ready && c.p.nrows > 0 && c.p.inner > 0 && rng_below(&r, 2));
    }
    assert_ok(FtB_Context_set_matmul_precision(NULL, FTB_PRECISION_FP32));
}

/* Each of our kernels: tiles of one value of a thread and of four along each side, at their edges and of more
 * than one tile, and sums that are cut. */
static void variants(void **state)
{
    (void)state;
    static const int64_t narrow[] = {1, 15, 16}, wide[] = {17, 64, 65};
    if (!fake_gpu_emulates())
        return;
    rng r = rng_new();
    for (int k = 0; k < 72 + 6; k++) {
        const bool cut = k >= 72;
        const int shape = cut ? (int)rng_below(&r, 4) : k / 6 % 4, m = k / 24, n = (m + k / 6) % 3;
        const int64_t few = 1 + rng_below(&r, 5);
        dense_case c = {.p = {.ctx = ftb_context(),
                              .what = (ftb_dense_form)(k % 3),
                              .type = k / 3 % 2 ? FTB_FP64 : FTB_FP32,
                              .nrows = shape / 2 ? wide[cut ? 0 : m]
                                       : cut     ? few
                                                 : narrow[m],
                              .ncols = shape % 2 ? wide[cut ? 0 : n]
                                       : cut     ? few
                                                 : narrow[n],
                              .inner = cut ? 1024 + rng_below(&r, 600) : 1 + rng_below(&r, 20),
                              .add = rng_below(&r, 2)}};
        lay_out(&r, &c);
        try_one(&r, &c, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(products, beside_clean),
                                       cmocka_unit_test_teardown(variants, beside_clean)};
    return cmocka_run_group_tests(tests, start, NULL);
}
