/* FtB_reduce of blocks, and of matrices whose rows are long or wide, against loops over plain numbers. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "oracle/ref_block.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>

static ref_number either(ref_number x, ref_number y) { return ref_integer(ref_true(x) || ref_true(y)); }
static ref_number first(ref_number x, ref_number y)
{
    (void)y;
    return x;
}

static const struct {
    const char *name;
    ref_number (*f)(ref_number x, ref_number y);
} monoids[] = {{"plus", ref_add}, {"min", ref_least}, {"max", ref_greatest}, {"or", either}, {"any", first}};

static ref_number reduced(int which, const ref_block *X, int64_t at, int64_t count, int64_t step)
{
    ref_number total = X->values[at];
    for (int64_t t = 1; t < count; t++)
        total = monoids[which].f(total, X->values[at + t * step]);
    return which == 3 ? ref_integer(ref_true(total)) : total;
}

typedef struct shape {
    int64_t nrows, heads, width;
    bool columns;
} shape;

/* What there is to write: a row of results per row of X, or one of all its columns; *absent: it is not there.
 */
static ref_block *results(const ref_block *X, int which, const shape *s, bool *absent)
{
    int64_t ncols = s->heads * s->width;
    ref_block *T = ref_block_new(FTB_FP64, s->columns ? 1 : s->nrows, s->columns ? ncols : s->heads);
    *absent = s->columns ? s->nrows == 0 : ncols == 0;
    for (int64_t i = 0; i < T->nrows && !*absent; i++)
        for (int64_t h = 0; h < T->ncols; h++)
            *ref_block_at(T, i, h) = s->columns ? reduced(which, X, h, s->nrows, ncols)
                                                : reduced(which, X, i * ncols + h * s->width, s->width, 1);
    return T;
}

static void random_block(rng *r, const shape *s)
{
    ref_flags flags = ref_flags_of((int)rng_below(r, REF_FLAGS));
    flags.transpose0 = s->columns;
    double fill = (double)rng_below(r, 3);
    int which = (int)rng_below(r, 5);
    bool absent;
    FtB_Block X = ref_block_random(r, rng_type(r), s->nrows, s->heads * s->width), V, y, M = NULL;
    assert_ok(FtB_Block_heads(&V, X, s->heads));
    ref_block *values = ref_block_read(X), *T = results(values, which, s, &absent);
    y = ref_block_random(r, rng_type(r), T->nrows, T->ncols);
    if (rng_below(r, 2))
        M = ref_block_random(r, rng_type(r), T->nrows, 1);
    const ref_op *accum = rng_below(r, 2) ? ref_op_of((int)rng_below(r, ref_ops())) : NULL;
    FtB_Descriptor desc = ref_block_descriptor(&flags, fill);
    ref_block *old = ref_block_read(y), *mask = ref_block_read(M);
    void *before = ref_block_snapshot(y);
    bool *present = calloc((size_t)T->nrows + 1, sizeof *present);
    for (int64_t i = 0; i < T->nrows; i++)
        present[i] = !absent;
    assert_ok(FtB_reduce(y, M, ref_op_arg(accum), monoids[which].name, V, desc));
    ref_block_check(y, ref_block_write(old, mask, &flags, fill, accum, T, present), before, 1e-6,
                    monoids[which].name);
    free(present);
    ref_block *const blocks[] = {values, T, old, mask};
    for (int b = 0; b < 4; b++)
        ref_block_free(blocks[b]);
    FtB_Block *const all[] = {&X, &V, &y, &M};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(all[b]);
    FtB_Descriptor_free(&desc);
}

static void random_blocks(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 1500; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        ftb_isa_force(t % 4 - 1);
        const shape s = {ref_block_dimension(&r), rng_below(&r, 2) ? 1 : 2 + rng_below(&r, 4),
                         ref_block_dimension(&r) % 400, rng_below(&r, 2)};
        random_block(&r, &s);
    }
    for (int t = 0; t < 20; t++) {
        const shape tall = {40000, 1, 1 + rng_below(&r, 5), t % 2}, flat = {3, 2, 9000, t % 2};
        random_block(&r, t % 4 < 2 ? &tall : &flat);
    }
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- matrices: rows of every length, entries of every width that kernels treat in a way of its own */

static void segments(FtB_Type type, int64_t width, const int64_t *lengths, int nrows, rng *r)
{
    int64_t *rowptr = calloc((size_t)nrows + 1, sizeof *rowptr), longest = 1;
    for (int i = 0; i < nrows; i++) {
        rowptr[i + 1] = rowptr[i] + lengths[i];
        longest = lengths[i] > longest ? lengths[i] : longest;
    }
    int64_t nvals = rowptr[nrows];
    int32_t *columns = malloc(sizeof *columns * (size_t)nvals);
    for (int i = 0; i < nrows; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
            columns[e] = (int32_t)(e - rowptr[i]);
    void *values = malloc((size_t)(nvals * width) * FtB_Type_size(type));
    rng_values(r, values, type, nvals * width);
    FtB_Matrix A;
    FtB_Block X, y, again;
    assert_ok(FtB_Matrix_wrap_csr(&A, type, nrows, longest, width, rowptr, columns, values));
    assert_ok(FtB_Block_wrap(&X, values, nvals, width, width, type));
    ref_block *x = ref_block_read(X);
    for (int which = 0; which < 5; which++) {
        assert_ok(FtB_Block_new(&y, nrows, width, FTB_FP64));
        assert_ok(FtB_Block_new(&again, nrows, width, FTB_FP64));
        ftb_isa_force(which % 4 - 1);
        assert_ok(FtB_reduce(y, NULL, NULL, monoids[which].name, A, NULL));
        ftb_isa_force(FTB_ISA_BASELINE);
        assert_ok(FtB_Context_set_threads(NULL, 3));
        assert_ok(FtB_reduce(again, NULL, NULL, monoids[which].name, A, NULL));
        assert_ok(FtB_Context_set_threads(NULL, 1));
        assert_memory_equal(block_values(y), block_values(again), (size_t)(nrows * width) * sizeof(double));
        for (int i = 0; i < nrows; i++)
            for (int64_t f = 0; f < width; f++) {
                double found = ((double *)block_values(y))[i * width + f];
                double goal = lengths[i] > 0
                                  ? ref_double(reduced(which, x, rowptr[i] * width + f, lengths[i], width))
                                  : 0;
                if (found != goal)
                    fail_msg("%s of %s, width %lld, row of %lld: %g, expected %g", monoids[which].name,
                             FtB_Type_name(type), (long long)width, (long long)lengths[i], found, goal);
            }
        FtB_Block_free(&y);
        FtB_Block_free(&again);
    }
    ftb_isa_force(-1);
    ref_block_free(x);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    free(rowptr);
    free(columns);
    free(values);
}

static void segments_of_every_kind(void **state)
{
    (void)state;
    const int64_t lengths[] = {0, 1, 2, 3, 0, 7, 8, 15, 16, 17, 31, 32, 33, 63, 255, 256, 257, 4097, 0};
    const int64_t widths[] = {1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 64, 100};
    const FtB_Type types[] = {FTB_FP32, FTB_FP64, FTB_INT64, FTB_INT32, FTB_BF16, FTB_BOOL};
    rng r = rng_new();
    assert_ok(FtB_Context_set_threads(NULL, 1));
    for (int w = 0; w < 12; w++)
        segments(types[w % 6], widths[w], lengths, 19, &r);
    for (int t = 0; t < 6; t++)
        segments(types[t], t % 2 ? 1 : 8, lengths, 19, &r);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

static void nan_loses(void **state)
{
    (void)state;
    float x[40], y[2], sum;
    FtB_Block X, Y, S;
    for (int f = 0; f < 40; f++)
        x[f] = f % 3 ? (float)f : NAN;
    assert_ok(FtB_Block_wrap(&X, x, 2, 20, 20, FTB_FP32));
    assert_ok(FtB_Block_wrap(&Y, y, 2, 1, 1, FTB_FP32));
    assert_ok(FtB_reduce(Y, NULL, NULL, "max", X, NULL));
    assert_true(y[0] == 19 && y[1] == 38);
    assert_ok(FtB_reduce(Y, NULL, NULL, "min", X, NULL));
    assert_true(y[0] == 1 && y[1] == 20);
    assert_ok(FtB_reduce(Y, NULL, NULL, "plus", X, NULL));
    assert_true(isnan(y[0]) && isnan(y[1]));
    for (int f = 0; f < 40; f++)
        x[f] = NAN;
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_reduce(Y, NULL, NULL, "max", X, NULL));
    assert_true(isnan(y[0]));
    FtB_Block_free(&X);
    /* 4096 times 2^-12: in 16 bits a running sum would stop at 2^-4 */
    uint16_t small[4096];
    for (int f = 0; f < 4096; f++)
        small[f] = 0x3980; /* bf16 of 2^-12 */
    assert_ok(FtB_Block_wrap(&X, small, 1, 4096, 4096, FTB_BF16));
    assert_ok(FtB_Block_wrap(&S, &sum, 1, 1, 1, FTB_FP32));
    assert_ok(FtB_reduce(S, NULL, NULL, "plus", X, NULL));
    assert_true(sum == 1);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&S);
}

/* y may be a part of the block that is reduced. */
static void aliases(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    FtB_Block X, y;
    assert_ok(FtB_Block_new(&X, ROWS, 3, FTB_FP64));
    double *x = block_values(X);
    for (int e = 0; e < 3 * ROWS; e++)
        x[e] = e;
    assert_ok(FtB_Block_wrap(&y, x, ROWS, 1, 1, FTB_FP64));
    assert_ok(FtB_reduce(y, NULL, NULL, "plus", X, NULL));
    for (int i = 0; i < ROWS; i++)
        assert_true(x[i] == 9.0 * i + 3);
    FtB_Block_free(&X);
    FtB_Block_free(&y);
}

static void refusals(void **state)
{
    (void)state;
    FtB_Block X, V, y;
    assert_ok(FtB_Block_new(&X, 4, 6, FTB_FP32));
    assert_ok(FtB_Block_heads(&V, X, 3));
    assert_ok(FtB_Block_new(&y, 4, 1, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "y is 4 x 1; expected 4 x 3",
                 FtB_reduce(y, NULL, NULL, "plus", V, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "y is 4 x 1; expected 1 x 6",
                 FtB_reduce(y, NULL, NULL, "plus", V, FTB_DESC_T0));
    assert_fails(GrB_INVALID_VALUE, "mean", FtB_reduce(y, NULL, NULL, "mean", X, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "M is 4 x 6", FtB_reduce(y, X, NULL, "plus", X, NULL));
    FtB_Block_free(&X);
    FtB_Block_free(&V);
    FtB_Block_free(&y);
}

static GrB_Info call(void *arg)
{
    FtB_Block X = NULL, y = arg;
    GrB_Info info = FtB_Block_new(&X, 3, 4, FTB_INT16);
    if (info == GrB_SUCCESS) {
        ((int16_t *)block_values(X))[0] = 1;
        info = FtB_reduce(y, NULL, "x + y", "plus", X, NULL);
    }
    if (info == GrB_SUCCESS) {
        ((double *)block_values(y))[0] = 0;
        FtB_Block_free(&X);
        if ((info = FtB_Block_new(&X, 5, 3, FTB_FP32)) == GrB_SUCCESS) {
            FtB_Block row = NULL;
            if ((info = FtB_Block_wrap(&row, block_values(y), 1, 3, 3, FTB_FP64)) == GrB_SUCCESS)
                info = FtB_reduce(row, NULL, NULL, "max", X, FTB_DESC_T0);
            FtB_Block_free(&row);
        }
    }
    FtB_Block_free(&X);
    return info;
}

static void untouched(void *arg)
{
    FtB_Block y = arg;
    for (int e = 0; e < 3; e++)
        assert_true(((double *)block_values(y))[e] == 0);
}

static void failing_allocations(void **state)
{
    (void)state;
    FtB_Block y;
    assert_ok(FtB_Block_new(&y, 3, 1, FTB_FP64));
    fail_every_allocation(call, untouched, y);
    FtB_Block_free(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks), cmocka_unit_test(segments_of_every_kind),
        cmocka_unit_test(nan_loses),     cmocka_unit_test(aliases),
        cmocka_unit_test(refusals),      cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
