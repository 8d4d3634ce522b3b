/* Products of which a row's first message that says all is enough (cpu/first_rows.h): `any` and `or` of one
 * column, against loops over all entries. All types, columns of wider blocks, row masks, rows without
 * entries, NaN and -0, threads, and texts beside them that are more than a name. */
#include "support/check.h"

#include "featblas.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 60 };

typedef struct operands {
    FtB_Matrix A;
    FtB_Block X, Y, mask;
    int64_t nrows, ncols, from[MOST * MOST], to[MOST * MOST], nvals;
    double x[MOST];
    bool masked[MOST];
} operands;

static const FtB_Type types[] = {FTB_BOOL,  FTB_INT8,   FTB_INT16,  FTB_INT32,  FTB_INT64,
                                 FTB_UINT8, FTB_UINT16, FTB_UINT32, FTB_UINT64, FTB_FP16,
                                 FTB_BF16,  FTB_FP32,   FTB_FP64};

/* Entries as the pattern has them: in the order of rows and columns. */
static void make_graph(operands *o, rng *r)
{
    const int64_t tuples = rng_below(r, 2 * o->nrows + 1);
    for (int64_t e = 0; e < tuples; e++) {
        o->from[e] = rng_below(r, o->nrows);
        o->to[e] = rng_below(r, o->ncols);
    }
    assert_ok(FtB_Matrix_build(&o->A, FTB_FP32, o->nrows, o->ncols, 0, tuples, o->from, o->to, NULL,
                               FTB_DUP_FIRST, NULL));
    const int64_t *rowptr;
    const void *colidx;
    assert_ok(FtB_Matrix_csr(o->A, &rowptr, &colidx, NULL));
    for (int64_t i = 0; i < o->nrows; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            o->from[e] = i;
            o->to[e] = ((const int32_t *)colidx)[e];
        }
    o->nvals = rowptr[o->nrows];
}

static void random_case(int c)
{
    static const double reals[] = {0, -0.0, 1, 2.5, (double)NAN};
    rng r = rng_case(c);
    const FtB_Type type = types[c % 13];
    const bool real = type == FTB_FP16 || type == FTB_BF16 || type == FTB_FP32 || type == FTB_FP64;
    const bool any = rng_below(&r, 2), masked = rng_below(&r, 2), apart = rng_below(&r, 2);
    operands o = {.nrows = 1 + rng_below(&r, MOST), .ncols = 1 + rng_below(&r, MOST)};
    make_graph(&o, &r);
    FtB_Block wide, given;
    double values[MOST * 3];
    for (int64_t k = 0; k < o.ncols; k++) {
        o.x[k] = rng_below(&r, 2)   ? 0
                 : real             ? reals[rng_below(&r, 5)]
                 : type == FTB_BOOL ? 1
                                    : (double)(1 + rng_below(&r, 100));
        for (int f = 0; f < 3; f++)
            values[3 * k + f] = f == 1 ? o.x[k] : 7;
    }
    assert_ok(FtB_Block_wrap(&given, values, o.ncols, 3, 3, FTB_FP64));
    assert_ok(FtB_Block_new(&wide, o.ncols, 3, type));
    assert_ok(FtB_apply(wide, NULL, NULL, "x", given, NULL));
    assert_ok(FtB_Block_columns(&o.X, wide, 1, 1));
    assert_ok(FtB_Block_new(&o.Y, o.nrows, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&o.mask, o.nrows, 1, FTB_BOOL));
    for (int64_t i = 0; i < o.nrows; i++) {
        o.masked[i] = !masked || rng_below(&r, 3) > 0;
        ((bool *)(uintptr_t)block_values(o.mask))[i] = o.masked[i];
        ((double *)(uintptr_t)block_values(o.Y))[i] = -5;
    }
    assert_ok(FtB_Block_changed(o.mask));
    assert_ok(FtB_Block_changed(o.Y));
    const char *const texts[][2] = {{"or : src", "or : src && true"},
                                    {"any : src", "any : src > 0 ? src : src"}};
    assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
    assert_ok(FtB_mxm(o.Y, masked ? o.mask : NULL, NULL, texts[any][apart], o.A, o.X, NULL));
    assert_ok(FtB_Context_set_threads(NULL, 0));
    for (int64_t i = 0; i < o.nrows; i++) {
        double want = o.masked[i] ? 0 : -5; /* rows outside the mask stay, rows without entries become 0 */
        bool there = false;
        for (int64_t e = 0; e < o.nvals && o.masked[i]; e++)
            if (o.from[e] == i) {
                const double x = o.x[o.to[e]];
                want = any ? (there ? want : x) : want != 0 || x != 0;
                there = true;
            }
        const double got = ((const double *)block_values(o.Y))[i];
        if (got != want && !(got != got && want != want))
            fail_msg("case %d, %s of %s: row %lld is %g, not %g", c, texts[any][apart], FtB_Type_name(type),
                     (long long)i, got, want);
    }
    FtB_Block *const blocks[] = {&o.X, &o.Y, &o.mask, &wide, &given};
    for (int b = 0; b < 5; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&o.A);
}

static void random_products(void **state)
{
    (void)state;
    const int cases = rng_cases(1300);
    for (int c = 0; c < cases; c++)
        random_case(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
