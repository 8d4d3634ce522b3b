/* Sums on a GPU that does not exist, beside slow loops in FP64: of columns, of rows' heads, of rows' entries,
 * with rows that are cut and rows without; nothing beside them is written, and runs give the same bits. */
#include "support/beside.h"
#include "support/check.h"

#include "core/core.h"
#include "gpu/gpu_verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double at(const beside *b, int64_t k) { return ftb_get_real(b->host, b->type, k); }

/* What the GPU has for out(k) is the sum, rounded once, or twice where it is added to what was there. */
static void check(const ftb_reduce_product *p, const void *got, const beside *out, int64_t k, double sum,
                  double greatest)
{
    const double unit = p->type == FTB_FP32 ? 0x1p-24 : 0x1p-53, was = p->add ? at(out, k) : 0;
    const double x = ftb_get_real(got, p->type, k), expected = sum + was;
    /* FP64 sums are in another order: 2,000 values and more. */
    const double bound = unit * (2 * (fabs(sum) + fabs(was)) + (p->type == FTB_FP64 ? 64 * greatest : 0));
    if (!(fabs(x - expected) <= bound + 1e-300))
        fail_msg("form %d, %lld x %lld heads of %lld: value %lld is %.17g, not %.17g", (int)p->what,
                 (long long)p->nrows, (long long)p->heads, (long long)p->width, (long long)k, x, expected);
}

/* The sums of values of `host`, of which each is of one place of the result. */
static void compare(const ftb_reduce_product *p, const beside *x, const beside *out, int64_t places)
{
    const int64_t ncols = p->heads * p->width;
    double *sum = calloc((size_t)places + 1, sizeof *sum),
           *greatest = calloc((size_t)places + 1, sizeof *sum);
    bool *there = calloc((size_t)places + 1, 1);
    int64_t row = 0;
    for (int64_t i = 0; i < p->nrows; i++) {
        while (p->what == FTB_REDUCE_PATTERN && p->p->rowptr[row + 1] <= i)
            row++;
        for (int64_t f = 0; f < ncols; f++) {
            const int64_t k = p->what == FTB_REDUCE_ROWS      ? i * p->heads + f / p->width
                              : p->what == FTB_REDUCE_PATTERN ? row * ncols + f
                                                              : f;
            const double value = at(x, i * p->ld + f);
            sum[k] += value;
            greatest[k] += fabs(value);
            there[k] = true;
        }
    }
    void *got = beside_fetch(out);
    for (int64_t k = 0; k < out->count; k++) {
        const bool absent = p->what == FTB_REDUCE_PATTERN && k < places && !there[k];
        if (k >= places || (absent && (p->add || !p->fills))) { /* as it was */
            const size_t size = FtB_Type_size(p->type);
            assert_memory_equal((char *)got + (size_t)k * size, (char *)out->host + (size_t)k * size, size);
        } else {
            check(p, got, out, k, absent ? p->fill : sum[k], greatest[k]);
        }
    }
    free(got);
    free(sum);
    free(greatest);
    free(there);
}

static void reduce_one(rng *r, ftb_reduce_form what, bool add, bool fills)
{
    static const int64_t rows[] = {0, 1, 7, 300, 2500}, widths[] = {1, 2, 7, 8, 31, 33, 70};
    const FtB_Type type = rng_below(r, 2) ? FTB_FP32 : FTB_FP64;
    ftb_reduce_product p = {.ctx = ftb_context(),
                            .what = what,
                            .monoid = FTB_PLUS,
                            .from = type,
                            .domain = type,
                            .type = type,
                            .result = type,
                            .nrows = rows[rng_below(r, 5)],
                            .heads = what == FTB_REDUCE_PATTERN ? 1 : 1 + rng_below(r, 4),
                            .width = widths[rng_below(r, 7)],
                            .add = add,
                            .fills = fills,
                            .fill = 0.75};
    FtB_Matrix A = NULL;
    int64_t places = p.heads * p.width;
    if (what == FTB_REDUCE_PATTERN) {
        A = fake_gpu_matrix(r, 20, 2600, 0, rng_below(r, 2) ? 2500 : 9);
        p.p = A->pattern;
        p.nrows = A->pattern->nvals;
        places = 20 * p.width;
    }
    places = what == FTB_REDUCE_ROWS ? p.nrows * p.heads : places;
    p.ld = p.heads * p.width + (A ? 0 : rng_below(r, 3));
    beside x = beside_new(r, type, p.nrows * p.ld, rng_reals), out = beside_new(r, type, places, rng_reals);
    const int ran = fake_gpu_launches();
    p.x = beside_at(&x, true, 0);
    p.out = beside_at(&out, true, 0);
    assert_true(ftb_gpu_reduce_fits(&p));
    assert_ok(ftb_gpu_reduce(&p));
    compare(&p, &x, &out, places);
    assert_true(fake_gpu_launches() > ran || p.nrows == 0);
    void *first = beside_fetch(&out), *second;
    if (!p.add) {
        assert_ok(ftb_gpu_reduce(&p));
        second = beside_fetch(&out);
        assert_memory_equal(first, second, (size_t)out.count * FtB_Type_size(type));
        free(second);
    }
    free(first);
    beside_free(&x);
    beside_free(&out);
    FtB_Matrix_free(&A);
}

static void forms(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int64_t n = 0; fake_gpu_emulates() && n < rng_cases(60); n++)
        reduce_one(&r, (ftb_reduce_form)(n % 4), n / 4 % 2, n / 8 % 2);
}

/* From the public calls: sums there, all else and other types on the host. */
static void calls(void **state)
{
    rng r = rng_new();
    (void)state;
    FtB_Block X = fake_gpu_block(&r, 90, 1, 6, 0, 0, true), rows, columns;
    FtB_Matrix A = fake_gpu_matrix(&r, 20, 30, 1, 9);
    double all = 0, expected = 0;
    assert_ok(FtB_Block_new(&rows, 90, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&columns, 1, 6, FTB_FP32));
    const int ran = fake_gpu_launches();
    assert_ok(FtB_reduce(rows, NULL, NULL, "plus", X, NULL));
    assert_ok(FtB_reduce(columns, NULL, NULL, "plus", X, FTB_DESC_T0));
    const float *x = block_values(X), *by_row = block_values(rows), *by_column = block_values(columns);
    assert_int_equal(fake_gpu_launches() - ran, fake_gpu_emulates() ? 3 : 0);
    for (int i = 0; i < 90; i++) {
        float sum = 0;
        for (int f = 0; f < 6; f++)
            sum += x[6 * i + f];
        assert_true(by_row[i] == sum);
    }
    for (int f = 0; f < 6; f++) {
        float sum = 0;
        for (int i = 0; i < 90; i++)
            sum += x[6 * i + f];
        assert_true(by_column[f] == sum);
    }
    assert_ok(FtB_reduce_scalar(&all, FTB_FP64, "plus", A));
    const float *a = matrix_values(A);
    for (int64_t e = 0; e < A->pattern->nvals; e++)
        expected += a[e];
    assert_true(fabs(all - expected) < 1e-5);
    assert_ok(FtB_reduce(rows, NULL, NULL, "max", X, NULL));
    by_row = block_values(rows);
    for (int i = 0; i < 90; i++)
        for (int f = 0; f < 6; f++)
            assert_true(by_row[i] >= x[6 * i + f]);
    FtB_Block_free(&X);
    FtB_Block_free(&rows);
    FtB_Block_free(&columns);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(forms, fake_gpu_clean),
                                       cmocka_unit_test_teardown(calls, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
