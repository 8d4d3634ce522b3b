/* Operators over rows of blocks on a GPU that does not exist, beside the host: operands of every shape, of
 * which every bit is the host's, but of pow, and nothing beside the rows is touched; calls of blocks and of
 * matrices come there. */
#include "support/beside.h"
#include "support/check.h"
#include "support/real_gpu.h"

#include "cpu/block/apply_run.h"
#include "gpu/gpu_verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const texts[] = {"relu(x)",
                                    "x * scale + 1",
                                    "x > 0 ? tanh(x) : -x * 0.5",
                                    "i > 1 ? x : -x",
                                    "x + y",
                                    "x * sigmoid(y) - scale",
                                    "max(x, y)",
                                    "x > y ? x : y * 2"};
enum { TEXTS = sizeof texts / sizeof *texts, UNARY = 4 };

/* Heads of the result, and how the other operand goes with them: all of it, one value, one of each head, one
 * head for all, or one row of any of these. */
typedef struct shape {
    int64_t nrows, heads, width, other_heads, other_width;
    bool one_row, flat; /* flat: it has no heads, but as many columns */
} shape;

static shape some_shape(rng *r)
{
    static const int64_t rows[] = {0, 1, 3, 40, 129};
    shape s = {rows[rng_below(r, 5)], 1 + rng_below(r, 4), 1 + rng_below(r, 9), 1, 1,
               rng_below(r, 3) == 0,  rng_below(r, 2)};
    const int64_t kind = rng_below(r, 4);
    s.other_heads = kind == 0 || kind == 2 ? s.heads : 1;
    s.other_width = kind == 0 || kind == 3 ? s.width : 1;
    return s;
}

static ftb_block_operand operand(FtB_Type type, int64_t heads, int64_t width, int64_t gap, bool one_row)
{
    return (ftb_block_operand){
        .type = type, .ncols = heads * width, .ld = heads * width + gap, .heads = heads, .one_row = one_row};
}

static void apply_one(rng *r)
{
    const FtB_Type type = rng_below(r, 2) ? FTB_FP32 : FTB_FP64;
    const shape s = some_shape(r);
    const int text = (int)rng_below(r, TEXTS);
    const bool add = rng_below(r, 3) == 0, turned = rng_below(r, 2) && text >= UNARY;
    FtB_Op plain, bound = NULL, op;
    assert_ok(FtB_Op_new(&plain, texts[text]));
    if (strstr(texts[text], "scale"))
        assert_ok(FtB_Op_bind(&bound, plain, FTB_BIND("scale", 0.3)));
    op = bound ? bound : plain;
    const ftb_block_operand full = operand(type, s.heads, s.width, rng_below(r, 3), false);
    ftb_block_operand other = operand(type, s.other_heads, s.other_width, rng_below(r, 3), s.one_row);
    other.heads = s.flat ? 1 : other.heads;
    ftb_apply_product p = {.ctx = ftb_context(),
                           .op = op,
                           .x = turned ? other : full,
                           .y = turned ? full : other,
                           .binary = text >= UNARY,
                           .nrows = s.nrows,
                           .ncols = s.heads * s.width,
                           .type = type,
                           .ldo = s.heads * s.width + rng_below(r, 3),
                           .add = add};
    beside x = beside_new(r, type, p.x.ld * (p.x.one_row ? 1 : s.nrows), beside_odd),
           y = beside_new(r, type, p.binary ? p.y.ld * (p.y.one_row ? 1 : s.nrows) : 1, beside_odd),
           out = beside_new(r, type, p.ldo * s.nrows, rng_reals);
    const int ran = fake_gpu_launches();
    assert_true(ftb_gpu_apply_fits(&p));
    for (int there = 0; there < 2; there++) {
        p.x.data = beside_at(&x, there, 0);
        p.y.data = p.binary ? beside_at(&y, there, 0) : NULL;
        p.out = beside_at(&out, there, 0);
        assert_ok(there ? ftb_gpu_apply(&p) : ftb_apply_run(&p));
    }
    char what[120];
    snprintf(what, sizeof what, "%s of %lld x %lld heads of %lld, %lld of %lld", texts[text],
             (long long)s.nrows, (long long)s.heads, (long long)s.width, (long long)s.other_heads,
             (long long)s.other_width);
    beside_free(&x);
    beside_free(&y);
    /* In FP64 such functions are the C library's on the host, and CUDA's on a real GPU. */
    const bool rounded =
        real_gpu() && type == FTB_FP64 && (strstr(texts[text], "tanh") || strstr(texts[text], "sigmoid"));
    beside_near(&out, rounded ? 1e-13 : 0, what);
    assert_int_equal(fake_gpu_launches() - ran, s.nrows > 0);
    FtB_Op_free(&bound);
    FtB_Op_free(&plain);
}

static void operands(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(15); n++)
        apply_one(&r);
}

/* What a GPU has no kernel for, or would give another number of values. */
static void not_there(void **state)
{
    static const char *const others[] = {"sum(x)", "x"};
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < 2; n++) {
        FtB_Op op;
        assert_ok(FtB_Op_new(&op, others[n]));
        const ftb_apply_product p = {.ctx = ftb_context(),
                                     .op = op,
                                     .x = operand(FTB_FP32, 1, 1, 0, false),
                                     .y = operand(FTB_FP32, 1, 4, 0, false),
                                     .binary = true,
                                     .nrows = 3,
                                     .ncols = 4,
                                     .type = FTB_FP32};
        assert_false(ftb_gpu_apply_fits(&p));
        FtB_Op_free(&op);
    }
}

/* From the public calls; what does not fit is done by the host, with the same values. */
static void calls(void **state)
{
    rng r = rng_new();
    (void)state;
    FtB_Block X = fake_gpu_block(&r, 20, 1, 6, 0, 0, true), Y = fake_gpu_block(&r, 20, 1, 6, 0, 0, true), C,
              one;
    FtB_Matrix A = fake_gpu_matrix(&r, 20, 30, 2, 9), B;
    assert_ok(FtB_Block_new(&C, 20, 6, FTB_FP32));
    assert_ok(FtB_Block_columns(&one, Y, 0, 1));
    assert_ok(FtB_Matrix_like(&B, A, 2, FTB_FP32));
    const float *x = block_values(X), *y = block_values(Y);
    int ran = fake_gpu_launches();
    assert_ok(FtB_apply(C, NULL, NULL, "2 * x + 1", X, NULL));
    const float *c = block_values(C);
    for (int k = 0; k < 120; k++)
        assert_true(c[k] == 2 * x[k] + 1);
    assert_ok(FtB_eWiseMult(C, NULL, NULL, "y", one, X, NULL)); /* one value of x to each of y */
    c = block_values(C);
    for (int k = 0; k < 120; k++)
        assert_true(c[k] == x[k]);
    assert_ok(FtB_eWiseMult(C, NULL, NULL, "x", one, X, NULL)); /* which a GPU leaves to the host */
    c = block_values(C);
    for (int k = 0; k < 120; k++)
        assert_true(c[k] == y[k / 6 * 6]);
    assert_ok(FtB_apply(B, NULL, NULL, "x - 3", A, NULL));
    const float *a = matrix_values(A), *b = matrix_values(B);
    assert_int_equal(fake_gpu_launches() - ran, fake_gpu_emulates() ? 3 : 0);
    for (int64_t e = 0; e < 2 * A->pattern->nvals; e++)
        assert_true(b[e] == a[e] - 3);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Block_free(&C);
    FtB_Block_free(&one);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(operands, beside_clean),
                                       cmocka_unit_test_teardown(not_there, beside_clean),
                                       cmocka_unit_test_teardown(calls, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
