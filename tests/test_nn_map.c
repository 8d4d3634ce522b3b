/* Expressions over rows of variables: values, gradients against finite differences in FP64 for operands of
 * all rows, of one row, of one column and with heads, bits, errors, failing allocations. */
#include "support/check.h"

#include "core/core.h"
#include "featblas_nn.h"
#include "support/fail_alloc.h"
#include "support/gradients.h"
#include "support/tapes.h"

#include <math.h>
#include <stdlib.h>

enum { N = SMALL_VERTICES, D = 6 };

/* ---- gradients */

typedef struct form {
    const char *text;
    int64_t nrows, ncols; /* of y */
    int heads;            /* of x, and of y where it is as wide */
    int64_t width;        /* of the result */
} form;

static const form forms[] = {{"x * sigmoid(y)", N, D, 1, D},
                             {"x * sigmoid(y)", N, D, 3, D},
                             {"tanh(x) + y", 1, D, 1, D},
                             {"tanh(x) + y * x", 1, D, 2, D},
                             {"x * y", 1, D / 2, 2, D},
                             {"x * exp(y)", N, 1, 1, D},
                             {"x * exp(y)", N, 1, 2, D},
                             {"x * y - y", 1, 1, 3, D},
                             {"x / sqrt(dot(x, x) + 1)", N, D, 1, D},
                             {"x / sqrt(dot(x, x) + y)", 1, 1, 2, D},
                             {"dot(x, y)", N, D, 1, 1},
                             {"dot(x, y)", 1, D, 3, 3},
                             {"dot(x, y)", N, D / 3, 3, 3},
                             {"[sum(x), mean(y), x]", N, D, 1, D + 2},
                             {"max(x, 0.1 + y)", N, D, 1, D},
                             {"x > 0 ? x * y : y", N, 1, 1, D},
                             {"y", N, D, 1, D},
                             {"0.5 * x", 1, D, 1, D}};

static void check_form(const form *f, int again)
{
    FtB_Tape tape;
    int64_t ncols;
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Parameter p[] = {drawn_parameter("x", N, D, FTB_FP64, 1),
                         drawn_parameter("y", f->nrows, f->ncols, FTB_FP64, 2)};
    FtB_Var x = FtB_heads(FtB_scale(FtB_parameter(tape, p[0]), 1.5), f->heads),
            y = FtB_add(FtB_parameter(tape, p[1]), FtB_parameter(tape, p[1]));
    if (f->ncols == D)
        y = FtB_heads(y, f->heads);
    FtB_Var z = FtB_map(f->text, FTB_OPERAND("x", x), FTB_OPERAND("y", y));
    assert_ok(FtB_Var_shape(z, NULL, &ncols));
    assert_int_equal(ncols, f->width);
    FtB_Block T = drawn_block(N, ncols, FTB_FP64, 3), S = drawn_block(N, D, FTB_FP64, 4);
    FtB_Var loss = FtB_squared_error(z, FtB_input(tape, T), NULL);
    if (again) { /* gradients are added to others */
        FtB_Var both =
            f->nrows == 1 && f->ncols == 1 ? x : FtB_map("x * y", FTB_OPERAND("x", x), FTB_OPERAND("y", y));
        loss = FtB_add(loss, FtB_squared_error(both, FtB_input(tape, S), NULL));
    }
    assert_gradients(loss, p, 2, 1e-6);
    assert_gradients(loss, p, 2, 1e-6);
    FtB_Block_free(&T);
    FtB_Block_free(&S);
    for (int k = 0; k < 2; k++)
        FtB_Parameter_free(&p[k]);
    FtB_Tape_free(&tape);
}

static void gradients(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        for (int again = 0; again < 2; again++)
            check_form(&forms[k], again);
}

/* On edges, with a row for all of them. */
static void edges(void **state)
{
    FtB_Tape tape;
    FtB_Matrix A = small_graph();
    FtB_Parameter p[] = {drawn_parameter("x", N, D, FTB_FP64, 1), drawn_parameter("y", 1, 2, FTB_FP64, 2)};
    (void)state;
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var x = FtB_heads(FtB_parameter(tape, p[0]), 2);
    FtB_Var e = FtB_on_edges("plus : dot(src, dst)", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", x));
    FtB_Var f =
        FtB_map("tanh(e) * y + dot(e, e)", FTB_OPERAND("e", e), FTB_OPERAND("y", FtB_parameter(tape, p[1])));
    FtB_Var z = FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", f), FTB_OPERAND("src", x));
    FtB_Block T = drawn_block(N, D, FTB_FP64, 3);
    assert_gradients(FtB_squared_error(z, FtB_input(tape, T), NULL), p, 2, 1e-6);
    FtB_Block_free(&T);
    FtB_Parameter_free(&p[0]);
    FtB_Parameter_free(&p[1]);
    FtB_Tape_free(&tape);
    FtB_Matrix_free(&A);
}

/* ---- values */

static void check_values(int64_t nrows, int64_t ncols)
{
    FtB_Tape tape;
    FtB_Block X = drawn_block(nrows, ncols, FTB_FP32, 1), Y = drawn_block(nrows, 1, FTB_FP32, 2), Z;
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var x = FtB_input(tape, X), y = FtB_input(tape, Y);
    FtB_Var z = FtB_map("x * y - x / 3", FTB_OPERAND("x", x), FTB_OPERAND("y", y));
    assert_ok(FtB_evaluate(&Z, z));
    const float *a = block_values(X), *b = block_values(Y), *c = block_values(Z);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t f = 0; f < ncols; f++)
            assert_true(fabsf(c[i * ncols + f] - (a[i * ncols + f] * b[i] - a[i * ncols + f] / 3)) < 1e-6F);
    FtB_Block_free(&Z);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
}

static void values(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 100, 3000};
    (void)state;
    for (size_t a = 0; a < sizeof sizes / sizeof *sizes; a++)
        for (size_t b = 1; b < sizeof sizes / sizeof *sizes; b++)
            if (sizes[a] * sizes[b] < 1000000)
                check_values(sizes[a], sizes[b]);
}

/* The gradients of b (one row) and w, by so many threads: allocated. */
static float *with_threads(int threads)
{
    enum { ROWS = 4003, COLUMNS = 19 };
    FtB_Context ctx;
    FtB_Tape tape;
    FtB_Parameter b;
    FtB_Block B, G;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, threads));
    assert_ok(FtB_Context_engage(ctx));
    FtB_Block X = drawn_block(ROWS, COLUMNS, FTB_FP32, 3), T = drawn_block(ROWS, COLUMNS, FTB_FP32, 9);
    assert_ok(FtB_Parameter_new(&b, "b", 1, COLUMNS, FTB_FP32));
    assert_ok(FtB_Parameter_value(&B, b));
    fill_random(B, 4);
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var z = FtB_map("sigmoid(x * b)", FTB_OPERAND("x", FtB_input(tape, X)),
                        FTB_OPERAND("b", FtB_parameter(tape, b)));
    assert_ok(FtB_backward(FtB_squared_error(z, FtB_input(tape, T), NULL)));
    assert_ok(FtB_Parameter_gradient(&G, b));
    float *copy = memcpy(malloc(COLUMNS * sizeof *copy), block_values(G), COLUMNS * sizeof *copy);
    FtB_Block_free(&B);
    FtB_Block_free(&G);
    FtB_Parameter_free(&b);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Block_free(&T);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    return copy;
}

static void threads(void **state)
{
    (void)state;
    float *one = with_threads(1), *three = with_threads(3);
    assert_memory_equal(one, three, 19 * sizeof *one);
    free(one);
    free(three);
}

/* ---- errors */

static void refused(FtB_Tape tape, FtB_Var y, GrB_Info info, const char *message)
{
    assert_int_equal(y.node, -1);
    assert_fails(info, message, FtB_Tape_status(tape));
    assert_ok(FtB_Tape_reset(tape));
}

static void errors(void **state)
{
    FtB_Tape tape;
    FtB_Block X = drawn_block(N, D, FTB_FP32, 1), Y = drawn_block(N + 1, D, FTB_FP32, 2);
    FtB_Parameter p = drawn_parameter("p", N, D, FTB_FP64, 1);
    FtB_Matrix A = small_graph(), E;
    (void)state;
    assert_ok(FtB_Matrix_like(&E, A, D, FTB_FP32));
    assert_ok(FtB_Tape_new(&tape, 1));
#define OPERAND(name, X) FTB_OPERAND(name, FtB_input(tape, X))
    refused(tape, FtB_map("x +", OPERAND("x", X)), GrB_INVALID_VALUE, "column");
    refused(tape, FtB_map("x + z", OPERAND("x", X)), GrB_INVALID_VALUE, "z");
    refused(tape, FtB_map(NULL, OPERAND("x", X)), GrB_NULL_POINTER, "FtB_map: text is NULL");
    refused(tape, FtB_map("x + y", OPERAND("x", X), OPERAND("y", Y)), GrB_DIMENSION_MISMATCH,
            "FtB_map: 'x' is 7 x 6 fp32, 'y' is 8 x 6 fp32; expected as many rows, or one for all");
    refused(tape, FtB_map("x + y", OPERAND("x", X), FTB_OPERAND("y", FtB_input_edges(tape, E))),
            GrB_DIMENSION_MISMATCH, "11 edges");
    refused(tape, FtB_map("grad", OPERAND("grad", X)), GrB_INVALID_VALUE, "can be named 'grad'");
    refused(tape,
            FtB_map("x + y", FTB_OPERAND("x", FtB_heads(FtB_input(tape, X), 2)),
                    FTB_OPERAND("y", FtB_heads(FtB_input(tape, X), 3))),
            GrB_DIMENSION_MISMATCH, "FtB_map: 'y' has 3 heads, others have 2");
    refused(tape, FtB_map("lgamma(x)", FTB_OPERAND("x", FtB_parameter(tape, p))), GrB_DOMAIN_MISMATCH,
            "lgamma has no derivative");
#undef OPERAND
    FtB_Parameter_free(&p);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Tape_free(&tape);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&E);
}

/* ---- failing allocations */

static GrB_Info run_all(void *arg)
{
    FtB_Tape tape = NULL;
    FtB_Block T = NULL;
    FtB_Parameter p = NULL, q = NULL;
    GrB_Info info = FtB_Tape_new(&tape, 1);
    (void)arg;
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_new(&p, "p", N, D, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_new(&q, "q", 1, D, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&T, N, D, FTB_FP32);
    if (info == GrB_SUCCESS) {
        FtB_Var x = FtB_map("x * tanh(y)", FTB_OPERAND("x", FtB_parameter(tape, p)),
                            FTB_OPERAND("y", FtB_parameter(tape, q)));
        info = FtB_backward(FtB_squared_error(x, FtB_input(tape, T), NULL));
    }
    FtB_Parameter_free(&p);
    FtB_Parameter_free(&q);
    FtB_Block_free(&T);
    FtB_Tape_free(&tape);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    fail_every_allocation(run_all, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(edges),
                                       cmocka_unit_test(values),    cmocka_unit_test(threads),
                                       cmocka_unit_test(errors),    cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
