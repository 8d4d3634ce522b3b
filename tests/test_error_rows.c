/* Sums of messages (edge - dot(src, dst)) * src, of which there is a kernel (cpu/error_rows.h): bits of the
 * interpreter, by a text of the same meaning that it takes, and the definition. Both types, every instruction
 * set, widths that the kernel takes and that it leaves, row masks, transposed matrices, rows without entries,
 * threads; the orders in which the text may be written, and texts beside it. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "cpu/error_rows.h"
#include "ops/hoist.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 30, WIDEST = 272 };

/* The same values to all programs, but no name. */
static const char other_text[] = "plus : (edge - dot(src, dst)) * max(src, src)";

static const char *const texts[] = {
    "plus : (edge - dot(src, dst)) * src", "plus : src * (edge - dot(src, dst))",
    "plus : (edge - dot(dst, src)) * src", "mean : src * (edge - dot(dst, src))"};

typedef struct operands {
    FtB_Type type;
    FtB_Matrix A;
    FtB_Block X, Z, mask;
} operands;

static void multiply(FtB_Block Y, const operands *o, const char *text, bool masked, bool turned)
{
    FtB_Semiring s, bound;
    assert_ok(FtB_Semiring_new(&s, text));
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("dst", o->Z)));
    assert_ok(FtB_mxm(Y, masked ? o->mask : NULL, NULL, bound, o->A, o->X, turned ? FTB_DESC_T0 : NULL));
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&s);
}

static long double value_of(const operands *o, FtB_Block B, int64_t row, int64_t at)
{
    return (long double)ftb_get_real(block_values(B), o->type, row * B->ld + at);
}

/* By the definition, in long double; without a mask, as the matrix stands. */
static void assert_defined(const operands *o, FtB_Block Y, int64_t width, long double bound)
{
    const int64_t *rowptr;
    const void *column;
    int64_t nrows;
    assert_ok(FtB_Matrix_shape(o->A, &nrows, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_csr(o->A, &rowptr, &column, NULL));
    for (int64_t i = 0; i < nrows; i++) {
        long double sum[WIDEST] = {0}, size[WIDEST] = {0};
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            const int64_t j = ((const int32_t *)column)[e];
            long double error = (long double)ftb_get_real(matrix_values(o->A), o->type, e);
            for (int64_t f = 0; f < width; f++)
                error -= value_of(o, o->X, j, f) * value_of(o, o->Z, i, f);
            for (int64_t f = 0; f < width; f++) {
                sum[f] += error * value_of(o, o->X, j, f);
                size[f] += 1 + fabsl(error);
            }
        }
        for (int64_t f = 0; f < width; f++)
            if (!(fabsl(value_of(o, Y, i, f) - sum[f]) <= bound * size[f] * (long double)width))
                fail_msg("row %lld, value %lld: expected %.9Lg", (long long)i, (long long)f, sum[f]);
    }
}

static void random_case(int c)
{
    static const int64_t widths[] = {1, 8, 16, 17, 32, 48, 64, 256, 272};
    rng r = rng_case(c);
    operands o = {.type = c % 2 ? FTB_FP32 : FTB_FP64};
    const int64_t width = widths[rng_below(&r, 9)], m = 1 + rng_below(&r, MOST), n = 1 + rng_below(&r, MOST);
    const bool masked = rng_below(&r, 2), turned = rng_below(&r, 2);
    const int text = (int)rng_below(&r, 4);
    const int64_t receivers = turned ? n : m;
    FtB_Block Y[2];
    o.A = rng_matrix(&r, o.type, m, n, 1, rng_unit(&r));
    o.X = rng_heads(&r, o.type, turned ? m : n, 1, width, rng_reals);
    o.Z = rng_heads(&r, o.type, receivers, 1, width, rng_reals);
    assert_ok(FtB_Block_new(&o.mask, receivers, 1, FTB_BOOL));
    for (int64_t i = 0; i < receivers; i++)
        ((bool *)block_values(o.mask))[i] = rng_below(&r, 3) > 0;
    assert_ok(FtB_Block_changed(o.mask));
    ftb_isa_force(c / 2 % 3);
    assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
    for (int y = 0; y < 2; y++) {
        assert_ok(FtB_Block_new(&Y[y], receivers, width, o.type));
        if (y == 1 && text == 3)
            multiply(Y[y], &o, "mean : (edge - dot(src, dst)) * max(src, src)", masked, turned);
        else
            multiply(Y[y], &o, y ? other_text : texts[text], masked, turned);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    ftb_isa_force(-1);
    for (int64_t i = 0; i < receivers; i++)
        assert_memory_equal((const char *)block_values(Y[0]) + (size_t)(i * Y[0]->ld) * FtB_Type_size(o.type),
                            (const char *)block_values(Y[1]) + (size_t)(i * Y[1]->ld) * FtB_Type_size(o.type),
                            (size_t)width * FtB_Type_size(o.type));
    if (!masked && !turned && text < 3)
        assert_defined(&o, Y[0], width, o.type == FTB_FP32 ? 1e-6L : 1e-15L);
    FtB_Block *const blocks[] = {&o.X, &o.Z, &o.mask, &Y[0], &Y[1]};
    for (int b = 0; b < 5; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&o.A);
}

static void random_products(void **state)
{
    (void)state;
    const int cases = rng_cases(120);
    for (int c = 0; c < cases; c++)
        random_case(c);
}

/* Whether the kernel takes a text over 5 x 4 ratings and factors of a type and width. */
static bool taken(const char *text, FtB_Type rating, FtB_Type factor, int64_t width)
{
    rng r = rng_case(1);
    FtB_Matrix A = rng_matrix(&r, rating, 5, 4, 1, 0.5);
    FtB_Block X = rng_heads(&r, factor, 4, 1, width, rng_reals),
              Z = rng_heads(&r, factor, 5, 1, width, rng_reals);
    FtB_Semiring s;
    ftb_message m;
    ftb_hoisted h;
    assert_ok(FtB_Semiring_new(&s, text));
    assert_ok(ftb_message_new(&m, ftb_context(), s, NULL));
    assert_ok(ftb_message_values(&m, "edge", A, NULL));
    assert_ok(ftb_message_block(&m, "src", FTB_SIDE_COL, X, 1));
    assert_ok(ftb_message_block(&m, "dst", FTB_SIDE_ROW, Z, 1));
    assert_ok(ftb_message_indices(&m, A->pattern, false, NULL));
    assert_ok(ftb_hoist(&h, &m, A->pattern, true, false, false, NULL));
    const bool is = ftb_error_rows_of(&h.core, &h.type, A->pattern).run != NULL;
    ftb_hoist_clear(&h);
    ftb_message_clear(&m);
    FtB_Semiring_free(&s);
    FtB_Block_free(&X);
    FtB_Block_free(&Z);
    FtB_Matrix_free(&A);
    return is;
}

static void what_is_taken(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++)
        for (int64_t width = 16; width <= 256; width += 16)
            for (int type = 0; type < 2; type++)
                assert_true(taken(texts[t], type ? FTB_FP32 : FTB_FP64, type ? FTB_FP32 : FTB_FP64, width));
    static const char *const others[] = {
        "plus : (dot(src, dst) - edge) * src", "plus : (edge - dot(src, dst)) * dst",
        "plus : (edge - dot(src, src)) * src", "max : (edge - dot(src, dst)) * src",
        "plus : (edge + dot(src, dst)) * src"};
    for (int t = 0; t < 5; t++)
        assert_false(taken(others[t], FTB_FP32, FTB_FP32, 32));
    assert_false(
        taken(other_text, FTB_FP32, FTB_FP32, 32)); /* it is the interpreter that bits are compared with */
    assert_false(taken(texts[0], FTB_FP64, FTB_FP32, 32));
    assert_false(taken(texts[0], FTB_INT8, FTB_FP32, 32));
    assert_false(taken(texts[0], FTB_FP32, FTB_FP32, 31));
    assert_false(taken(texts[0], FTB_FP32, FTB_FP32, 272));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_products), cmocka_unit_test(what_is_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
