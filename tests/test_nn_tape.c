/* Tapes: gradients of every operation against finite differences in FP64, constants, in-place memory, errors
 * that variables carry along, the same bits for any number of threads. */
#include "support/check.h"

#include "core/core.h"
#include "featblas_nn.h"
#include "support/gradients.h"
#include "support/tapes.h"

#include <math.h>
#include <stdlib.h>

enum { N = SMALL_VERTICES, D = 5, CLASSES = 3 };

static const int32_t labels[N] = {0, 1, 2, 0, 1, 2, 0};
static const uint8_t mask[N] = {1, 0, 1, 1, 0, 1, 1};

typedef FtB_Var (*unary)(FtB_Var x, FtB_Var y, FtB_Matrix A);

static FtB_Var use_relu(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A, (void)y;
    return FtB_relu(x);
}
static FtB_Var use_leaky(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A, (void)y;
    return FtB_leaky_relu(x, 0.2);
}
static FtB_Var use_elu(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A, (void)y;
    return FtB_elu(x);
}
static FtB_Var use_sigmoid(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A, (void)y;
    return FtB_sigmoid(x);
}
static FtB_Var use_tanh(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A, (void)y;
    return FtB_tanh(x);
}
static FtB_Var use_gelu(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A, (void)y;
    return FtB_gelu(x);
}
static FtB_Var use_scale(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A, (void)y;
    return FtB_scale(x, -1.5);
}
static FtB_Var use_add(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A;
    return FtB_add(x, y);
}
static FtB_Var use_subtract(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A;
    return FtB_subtract(x, y);
}
static FtB_Var use_times(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A;
    return FtB_times(x, FtB_tanh(y));
}
static FtB_Var use_scalar(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    const int64_t third = 2;
    (void)A;
    return FtB_times(x, FtB_columns(FtB_rows(y, &third, 1), 1, 1));
}
static FtB_Var use_self(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A;
    (void)y;
    return FtB_times(x, x);
}
static FtB_Var use_sum(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    return FtB_add(FtB_multiply("plus : src", A, FTB_OPERAND("src", x)), y);
}
static FtB_Var use_max(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    return FtB_multiply("max : src * dst", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", y));
}
static FtB_Var use_mean(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    return FtB_multiply("mean : tanh(src + dst)", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", y));
}
static FtB_Var use_transposed(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    return FtB_add(FtB_multiply_transposed("plus : src", A, FTB_OPERAND("src", x)), y);
}
static FtB_Var use_select(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    FtB_Var e = FtB_on_edges("plus : dot(src, dst)", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", y));
    e = FtB_map("e > 0 ? e : 0", FTB_OPERAND("e", e));
    return FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", e), FTB_OPERAND("src", x));
}
/* Vectors of both ends times a block, whose rows are shared out between them. */
static FtB_Var times_rows(const char *text, FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    static const int64_t rows[] = {0, 1, 2, 3, 4, 5, 6, 0};
    return FtB_multiply(text, A, FTB_OPERAND("src", x), FTB_OPERAND("dst", x),
                        FTB_OPERAND("W", FtB_rows(y, rows, 8)));
}
static FtB_Var use_difference(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    return times_rows("max : relu([dst, src - dst] @ W + 0.2)", x, y, A);
}
static FtB_Var use_both_ends(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    return times_rows("min : tanh([src, dst] @ W)", x, y, A);
}
static FtB_Var use_mean_of_both(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    return times_rows("mean : [src, dst] @ W", x, y, A);
}
static FtB_Var use_edges(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    FtB_Var e = FtB_on_edges("plus : tanh(dot(src, dst))", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", y));
    return FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", FtB_sigmoid(e)), FTB_OPERAND("src", x));
}
static FtB_Var use_heads(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    FtB_Var h = FtB_heads(FtB_tanh(x), 2);
    FtB_Var e =
        FtB_on_edges("plus : dot(src, dst)", A, FTB_OPERAND("src", h), FTB_OPERAND("dst", FtB_heads(y, 2)));
    return FtB_heads(FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", e), FTB_OPERAND("src", h)), 1);
}

/* Gradients that are all 0 would agree with anything that does not move. */
static bool moves(FtB_Parameter p)
{
    FtB_Block G;
    bool any = false;
    assert_ok(FtB_Parameter_gradient(&G, p));
    const double *values = block_values(G);
    for (int64_t k = 0; k < G->nrows * G->ncols; k++)
        any = any || values[k] != 0;
    FtB_Block_free(&G);
    return any;
}

/* loss = cross entropy of op(x W1 + b, x W2) W3: both operands, and what is below them. */
static void check_operation(unary op)
{
    FtB_Tape tape;
    FtB_Block X;
    FtB_Matrix A = small_graph();
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP64));
    fill_random(X, 11);
    FtB_Parameter p[] = {drawn_parameter("W1", D, 4, FTB_FP64, 1), drawn_parameter("b", 1, 4, FTB_FP64, 2),
                         drawn_parameter("W2", D, 4, FTB_FP64, 3),
                         drawn_parameter("W3", 4, CLASSES, FTB_FP64, 4)};
    FtB_Var x = FtB_input(tape, X);
    FtB_Var y = op(FtB_linear(x, p[0], p[1]), FtB_linear(x, p[2], NULL), A);
    FtB_Var loss = FtB_cross_entropy(FtB_linear(y, p[3], NULL), labels, mask);
    int used = op == use_add || op == use_subtract || op == use_times || op == use_sum || op == use_max ||
               op == use_mean || op == use_transposed || op == use_edges || op == use_heads ||
               op == use_scalar || op == use_select || op == use_difference || op == use_both_ends ||
               op == use_mean_of_both;
    FtB_Parameter without[] = {p[0], p[1], p[3]};
    assert_gradients(loss, used ? p : without, used ? 4 : 3, 1e-6);
    assert_gradients(loss, used ? p : without, used ? 4 : 3, 1e-6); /* once more on the same record */
    assert_true(moves(p[0]));
    for (int k = 0; k < 4; k++)
        FtB_Parameter_free(&p[k]);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

static void gradients(void **state)
{
    static const unary operations[] = {
        use_relu,     use_leaky,      use_elu,       use_sigmoid,     use_tanh,  use_gelu,
        use_scale,    use_add,        use_sum,       use_max,         use_mean,  use_transposed,
        use_subtract, use_times,      use_self,      use_edges,       use_heads, use_scalar,
        use_select,   use_difference, use_both_ends, use_mean_of_both};
    (void)state;
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
        check_operation(operations[k]);
}

static void layer_gcn(void **state)
{
    FtB_Tape tape;
    FtB_Layer first, second;
    FtB_Matrix A = small_graph();
    FtB_Block X;
    (void)state;
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP64));
    fill_random(X, 5);
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(
        FtB_Layer_new(&first, "gcn", D, 4, FTB_LAYER_OPTIONS(.type = FTB_FP64, .seed = 3, .name = "conv1")));
    assert_ok(FtB_Layer_new(&second, "gcn", 4, CLASSES, FTB_LAYER_OPTIONS(.type = FTB_FP64, .seed = 3)));
    FtB_Var x = FtB_relu(FtB_gcn(first, A, FtB_input(tape, X)));
    FtB_Var loss = FtB_cross_entropy(FtB_gcn(second, A, x), labels, NULL);
    assert_layer_gradients(loss, first, 1e-6);
    assert_layer_gradients(loss, second, 1e-6);
    FtB_Layer_free(&first);
    FtB_Layer_free(&second);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* Long rows without a diagonal: A X + X, which is (A + I) X; values and gradients are the same. */
static void long_rows(void **state)
{
    enum { M = 70 };
    static int64_t from[M * M], to[M * M];
    FtB_Matrix A[2];
    FtB_Block X, Y[2], G[2];
    FtB_Tape tape;
    (void)state;
    for (int own = 0; own < 2; own++) {
        int64_t count = 0;
        for (int i = 0; i < M; i++)
            for (int j = 0; j < M; j++)
                if (own || i != j) {
                    from[count] = i;
                    to[count++] = j;
                }
        assert_ok(FtB_Matrix_build(&A[own], FTB_FP64, M, M, 0, count, from, to, NULL, FTB_DUP_ERROR, NULL));
    }
    assert_ok(FtB_Block_new(&X, M, D, FTB_FP64));
    fill_random(X, 5);
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Parameter w = drawn_parameter("w", D, 3, FTB_FP64, 4);
    for (int own = 0; own < 2; own++) {
        FtB_Layer layer;
        FtB_Block views[2];
        assert_ok(FtB_Tape_reset(tape));
        assert_ok(FtB_Layer_new(&layer, "gcn", 3, 2,
                                FTB_LAYER_OPTIONS(.type = FTB_FP64, .seed = 1, .no_self_loops = own == 1)));
        FtB_Var x = FtB_gcn(layer, A[own], FtB_tanh(FtB_linear(FtB_input(tape, X), w, NULL)));
        FtB_Var loss = FtB_squared_error(FtB_keep(x), FtB_columns(FtB_input(tape, X), 0, 2), NULL);
        if (!own)
            assert_layer_gradients(loss, layer, 1e-6);
        assert_gradients(loss, &w, 1, 1e-6);
        assert_ok(FtB_backward(loss));
        assert_ok(FtB_value(&views[0], x));
        assert_ok(FtB_Parameter_gradient(&views[1], w));
        assert_ok(FtB_Block_new(&Y[own], M, 2, FTB_FP64));
        assert_ok(FtB_Block_new(&G[own], D, 3, FTB_FP64));
        assert_ok(FtB_apply(Y[own], NULL, NULL, "x", views[0], NULL));
        assert_ok(FtB_apply(G[own], NULL, NULL, "x", views[1], NULL));
        FtB_Block_free(&views[0]);
        FtB_Block_free(&views[1]);
        FtB_Layer_free(&layer);
    }
    for (int k = 0; k < M * 2; k++)
        assert_true(fabs(((double *)block_values(Y[0]))[k] - ((double *)block_values(Y[1]))[k]) < 1e-12);
    for (int k = 0; k < D * 3; k++)
        assert_true(fabs(((double *)block_values(G[0]))[k] - ((double *)block_values(G[1]))[k]) < 1e-12);
    FtB_Tape_free(&tape);
    FtB_Parameter_free(&w);
    for (int own = 0; own < 2; own++) {
        FtB_Matrix_free(&A[own]);
        FtB_Block_free(&Y[own]);
        FtB_Block_free(&G[own]);
    }
    FtB_Block_free(&X);
}

/* Dropout of a sparse input, and of rows: the mean over runs is the value without it; gradients follow the
 * mask. */
static void dropout(void **state)
{
    FtB_Tape tape;
    FtB_Matrix A = small_graph();
    FtB_Parameter w = drawn_parameter("w", N, 2, FTB_FP64, 8);
    FtB_Block T;
    (void)state;
    assert_ok(FtB_Block_new(&T, N, 2, FTB_FP64));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var y = FtB_keep(FtB_matmul(FtB_dropout(FtB_input(tape, A), 0.25), FtB_parameter(tape, w)));
    FtB_Var loss = FtB_squared_error(y, FtB_input(tape, T), NULL);
    double sum = 0, wanted;
    FtB_Block Y;
    assert_ok(FtB_evaluate(&Y, y));
    wanted = ((double *)block_values(Y))[0];
    FtB_Block_free(&Y);
    for (int run = 0; run < 2000; run++) {
        assert_ok(FtB_backward(loss));
        assert_ok(FtB_value(&Y, y));
        sum += ((double *)block_values(Y))[0];
        FtB_Block_free(&Y);
    }
    assert_true(fabs(sum / 2000 - wanted) < 0.05);
    FtB_Block_free(&T);
    FtB_Parameter_free(&w);
    FtB_Tape_free(&tape);
    FtB_Matrix_free(&A);
}

static void errors(void **state)
{
    FtB_Tape tape;
    FtB_Matrix A = small_graph();
    FtB_Block X, Y;
    (void)state;
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP64));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Parameter w = drawn_parameter("w", D + 1, 2, FTB_FP64, 8);
    FtB_Var x = FtB_input(tape, X);
    FtB_Var y = FtB_relu(FtB_linear(x, w, NULL));
    assert_int_equal(y.node, -1);
    assert_fails(GrB_DIMENSION_MISMATCH, "FtB_linear: x is 7 x 5 fp64, w is 6 x 2 fp64", FtB_evaluate(&Y, y));
    assert_fails(GrB_DIMENSION_MISMATCH, "FtB_linear", FtB_backward(y));
    assert_ok(FtB_Tape_reset(tape));
    x = FtB_input(tape, X);
    assert_int_equal(FtB_multiply("plus : src +", A, FTB_OPERAND("src", x)).node, -1);
    assert_fails(GrB_INVALID_VALUE, "column", FtB_Tape_status(tape));
    assert_ok(FtB_Tape_reset(tape));
    x = FtB_input(tape, X);
    assert_fails(GrB_DIMENSION_MISMATCH, "1 x 1", FtB_backward(x));
    assert_ok(FtB_evaluate(&Y, x));
    FtB_Block_free(&Y);
    FtB_Tape other;
    assert_ok(FtB_Tape_new(&other, 1));
    assert_int_equal(FtB_add(x, FtB_input(other, X)).node, -1);
    assert_fails(GrB_INVALID_VALUE, "y is a variable of another tape", FtB_Tape_status(tape));
    assert_ok(FtB_Tape_reset(tape));
    x = FtB_input(tape, X);
    FtB_multiply("plus : src * dst", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", FtB_input(other, X)));
    assert_fails(GrB_INVALID_VALUE, "operand 'dst' is a variable of another tape", FtB_Tape_status(tape));
    FtB_Tape_free(&other);
    FtB_Parameter_free(&w);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* What is printed before anything ran: every product, its plan, and sums. */
static void explained(void **state)
{
    FtB_Tape tape;
    FtB_Layer layer;
    FtB_Matrix A = small_graph();
    FtB_Block X;
    char *text = NULL;
    size_t length = 0;
    (void)state;
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP64));
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_Layer_new(&layer, "gcn", D, CLASSES, FTB_LAYER_OPTIONS(.type = FTB_FP64, .name = "conv1")));
    FtB_Var x = FtB_dropout(FtB_input(tape, X), 0.5);
    FtB_Var e = FtB_on_edges("plus : dot(src, dst)", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", x));
    x = FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", e), FTB_OPERAND("src", x));
    FtB_Var loss = FtB_cross_entropy(FtB_gcn(layer, A, x), labels, NULL);
    FILE *file = open_memstream(&text, &length);
    assert_ok(FtB_Tape_explain(loss, file));
    fclose(file);
    static const char *const lines[] = {"loss and gradients of",
                                        "input: 7 x 5 fp64",
                                        "parameter conv1.lin.weight: 5 x 3 fp64",
                                        "dropout 0.5",
                                        "message of plus : dot(src, dst), 7 x 7, 11 entries",
                                        "product of plus : edge * src",
                                        "plan: rows as they lie",
                                        "dense product, 7 x 5 x 3",
                                        "parameters  18 that are trained",
                                        "predicted   "};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        if (!strstr(text, lines[k]))
            fail_msg("no line \"%s\" in\n%s", lines[k], text);
    free(text);
    assert_fails(GrB_NULL_POINTER, "file is NULL", FtB_Tape_explain(loss, NULL));
    FtB_Layer_free(&layer);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(layer_gcn),
                                       cmocka_unit_test(long_rows), cmocka_unit_test(dropout),
                                       cmocka_unit_test(errors),    cmocka_unit_test(explained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
