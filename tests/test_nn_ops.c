/* Operations of tapes that move and reduce rows: values against plain loops, gradients against finite
 * differences in FP64, edge shapes, errors, failing allocations. */
#include "support/check.h"

#include "core/core.h"
#include "featblas_nn.h"
#include "support/fail_alloc.h"
#include "support/gradients.h"
#include "support/rng.h"
#include "support/tapes.h"

#include <math.h>
#include <stdlib.h>

enum { N = SMALL_VERTICES, D = 6 };

static double at(FtB_Block X, int64_t i, int64_t j)
{
    assert_true(i < X->nrows && j < X->ncols);
    return ftb_get_real(block_values(X), X->type, i * X->ld + j);
}

/* ---- gradients */

/* An operation on two N x D variables. */
typedef FtB_Var (*operation)(FtB_Var x, FtB_Var y, FtB_Matrix A);

/* loss = squares of op(x, y): gradients of both. The loss reads x again, so that gradients are added too. */
static void check_operation(operation op, bool again)
{
    FtB_Tape tape;
    FtB_Matrix A = small_graph();
    int64_t nrows, ncols;
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Parameter p[] = {drawn_parameter("x", N, D, FTB_FP64, 1), drawn_parameter("y", N, D, FTB_FP64, 2),
                         drawn_parameter("w", D, D, FTB_FP64, 3)};
    FtB_Var x = FtB_matmul(FtB_parameter(tape, p[0]), FtB_parameter(tape, p[2])),
            y = FtB_tanh(FtB_parameter(tape, p[1]));
    FtB_Var z = op(x, y, A);
    assert_ok(FtB_Var_shape(z, &nrows, &ncols));
    FtB_Block T = drawn_block(nrows, ncols, FTB_FP64, 4), S = drawn_block(N, D, FTB_FP64, 5);
    FtB_Var loss = FtB_squared_error(z, FtB_input(tape, T), NULL);
    if (again)
        loss = FtB_add(loss, FtB_squared_error(FtB_times(x, y), FtB_input(tape, S), NULL));
    assert_gradients(loss, p, 3, 1e-6);
    assert_gradients(loss, p, 3, 1e-6); /* once more on the same record */
    for (int k = 0; k < 3; k++)
        FtB_Parameter_free(&p[k]);
    FtB_Block_free(&T);
    FtB_Block_free(&S);
    FtB_Tape_free(&tape);
    FtB_Matrix_free(&A);
}

static FtB_Var use_concat(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A;
    return FtB_concat(x, FtB_concat(y, x));
}
static FtB_Var use_concat_self(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A;
    return FtB_add(FtB_columns(FtB_concat(x, x), 3, D), y);
}
static FtB_Var use_columns(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A;
    return FtB_concat(FtB_times(FtB_columns(x, 0, 2), FtB_columns(y, 4, 2)), FtB_columns(x, 1, 4));
}
static FtB_Var use_rows(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    static const int64_t first[] = {6, 0, 0, 3, 6, 6, 1}, second[] = {2, 2, 2, 2, 2, 5, 2};
    (void)A;
    return FtB_times(FtB_rows(x, first, 7), FtB_rows(y, second, 7));
}
static FtB_Var use_mean_heads(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    (void)A;
    return FtB_times(FtB_mean_heads(FtB_heads(x, 3)), FtB_mean_heads(FtB_heads(y, 3)));
}
static FtB_Var weights(FtB_Var x, FtB_Var y, FtB_Matrix A, FtB_By by)
{
    FtB_Var e = FtB_on_edges("plus : dot(src, dst)", A, FTB_OPERAND("src", FtB_heads(x, 2)),
                             FTB_OPERAND("dst", FtB_heads(y, 2)));
    return FtB_edge_softmax(e, by);
}
static FtB_Var use_softmax_rows(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    FtB_Var s = weights(x, y, A, FTB_BY_ROW);
    return FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", s), FTB_OPERAND("src", FtB_heads(x, 2)));
}
static FtB_Var use_softmax_columns(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    FtB_Var s = weights(x, y, A, FTB_BY_COLUMN);
    return FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", s), FTB_OPERAND("src", FtB_heads(x, 2)));
}
/* Scores with two uses: the softmax must leave them, and its gradient is added. */
static FtB_Var use_softmax_twice(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    FtB_Var e = FtB_on_edges("plus : src * dst", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", y));
    e = FtB_concat(FtB_edge_softmax(e, FTB_BY_COLUMN), FtB_times(FtB_edge_softmax(e, FTB_BY_ROW), e));
    return FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", e), FTB_OPERAND("src", FtB_concat(x, y)));
}

/* out = in0 * in1 + scale, per value; counts its calls. */
typedef struct product {
    double scale;
    int *calls;
} product;

static GrB_Info product_forward(const FtB_Operation_call *call)
{
    const product *p = call->arg;
    ++*p->calls;
    for (int64_t k = 0; k < call->out->nrows * call->out->ncols; k++)
        ((double *)block_values(call->out))[k] =
            ((double *)block_values(call->in[0]))[k] * ((double *)block_values(call->in[1]))[k] * p->scale;
    return GrB_SUCCESS;
}

static GrB_Info product_gradient(const FtB_Operation_call *call)
{
    const product *p = call->arg;
    assert_true(call->training);
    for (int k = 0; k < 2; k++)
        for (int64_t t = 0; call->din[k] && t < call->out->nrows * call->out->ncols; t++)
            ((double *)block_values(call->din[k]))[t] = ((double *)block_values(call->dout))[t] *
                                                        ((double *)block_values(call->in[1 - k]))[t] *
                                                        p->scale;
    return GrB_SUCCESS;
}

static int calls;
static const product scaled = {-1.5, &calls};

static FtB_Var use_custom(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    const FtB_Operation op = {"product", product_forward, product_gradient};
    (void)A;
    return FtB_custom(&op, (const FtB_Var[]){x, y}, 2, N, D, &scaled);
}
static FtB_Var use_custom_twice(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    const FtB_Operation op = {"product", product_forward, product_gradient};
    (void)A;
    return FtB_add(FtB_custom(&op, (const FtB_Var[]){x, x}, 2, N, D, &scaled), y);
}

/* Losses whose targets are learned, too. */
static FtB_Var use_squared_error(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    static const uint8_t mask[N] = {1, 0, 1, 1};
    (void)A;
    return FtB_add(FtB_squared_error(x, y, mask), FtB_squared_error(FtB_tanh(y), x, NULL));
}
static FtB_Var use_binary(FtB_Var x, FtB_Var y, FtB_Matrix A)
{
    static const uint8_t mask[N] = {0, 1, 1};
    (void)A;
    return FtB_add(FtB_binary_cross_entropy(x, FtB_sigmoid(y), mask), FtB_binary_cross_entropy(y, y, NULL));
}

static void gradients(void **state)
{
    static const operation operations[] = {use_squared_error, use_binary,       use_concat,
                                           use_concat_self,   use_columns,      use_rows,
                                           use_mean_heads,    use_softmax_rows, use_softmax_columns,
                                           use_softmax_twice, use_custom,       use_custom_twice};
    (void)state;
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
        check_operation(operations[k], false);
        check_operation(operations[k], true);
    }
}

/* ---- values, FP32, any shape */

static FtB_Var shuffled(FtB_Var x, FtB_Var y, const int64_t *rows, int64_t nrows, int64_t first,
                        int64_t count)
{
    return FtB_rows(FtB_columns(FtB_concat(x, y), first, count), rows, nrows);
}

static void check_moves(int64_t nrows, int64_t ncols, int64_t other, FtB_Type type)
{
    FtB_Tape tape;
    rng r = rng_new();
    FtB_Block X = drawn_block(nrows, ncols, type, 7), Y = drawn_block(nrows, other, type, 8), Z;
    int64_t count = nrows == 0 ? 0 : 2 * nrows + 1, *rows = calloc((size_t)count + 1, sizeof *rows);
    int64_t first = rng_below(&r, ncols + other), width = 1 + rng_below(&r, ncols + other - first);
    for (int64_t t = 0; t < count; t++)
        rows[t] = rng_below(&r, nrows);
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var z = shuffled(FtB_input(tape, X), FtB_input(tape, Y), rows, count, first, width);
    assert_ok(FtB_evaluate(&Z, z));
    assert_int_equal(Z->nrows, count);
    assert_int_equal(Z->ncols, width);
    for (int64_t t = 0; t < count; t++)
        for (int64_t f = 0; f < width; f++) {
            int64_t j = first + f;
            assert_true(at(Z, t, f) == (j < ncols ? at(X, rows[t], j) : at(Y, rows[t], j - ncols)));
        }
    FtB_Block_free(&Z);
    assert_ok(FtB_Tape_reset(tape));
    z = FtB_mean_heads(FtB_heads(FtB_input(tape, X), ncols));
    assert_ok(FtB_evaluate(&Z, z));
    for (int64_t i = 0; i < nrows; i++) {
        double sum = 0;
        for (int64_t f = 0; f < ncols; f++)
            sum += at(X, i, f);
        assert_true(fabs(at(Z, i, 0) - sum / (double)ncols) < 1e-6);
    }
    FtB_Block_free(&Z);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    free(rows);
}

static void moves(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 100};
    (void)state;
    for (size_t a = 0; a < sizeof sizes / sizeof *sizes; a++)
        for (size_t b = 1; b < sizeof sizes / sizeof *sizes; b++) {
            check_moves(sizes[a], sizes[b], 1 + (int64_t)(a + b) % 5, FTB_FP32);
            check_moves(sizes[a], sizes[b], 1 + (int64_t)(a * b) % 5, FTB_FP64);
        }
}

/* A NaN is not lost on the way through an activation: a training that has gone wrong shows it. */
static void not_a_number(void **state)
{
    float values[20];
    FtB_Tape tape;
    FtB_Block X, Y;
    (void)state;
    for (int k = 0; k < 20; k++)
        values[k] = k % 3 ? NAN : -0.5f;
    assert_ok(FtB_Block_wrap(&X, values, 1, 20, 20, FTB_FP32));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var x = FtB_input(tape, X);
    const FtB_Var results[] = {FtB_relu(x),
                               FtB_leaky_relu(x, 0.2),
                               FtB_elu(x),
                               FtB_sigmoid(x),
                               FtB_tanh(x),
                               FtB_gelu(x),
                               FtB_scale(x, 2),
                               FtB_map("relu(x)", FTB_OPERAND("x", x)),
                               FtB_map("leaky_relu(x)", FTB_OPERAND("x", x)),
                               FtB_map("elu(x)", FTB_OPERAND("x", x))};
    for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
        assert_ok(FtB_evaluate(&Y, results[r]));
        for (int64_t k = 0; k < 20; k++)
            if (isnan(at(Y, 0, k)) != (k % 3 != 0))
                fail_msg("activation %zu of %g is %g", r, (double)values[k], at(Y, 0, k));
        FtB_Block_free(&Y);
    }
    FtB_Block_free(&X);
    FtB_Tape_free(&tape);
}

/* ---- the same bits for any number of threads */

static FtB_Var chain(FtB_Var x, FtB_Var w, const int64_t *rows, int64_t count)
{
    FtB_Var z = FtB_matmul(FtB_concat(x, x), w);
    z = FtB_mean_heads(FtB_heads(FtB_concat(FtB_rows(z, rows, count), FtB_rows(z, rows, count)), 4));
    return FtB_columns(z, 1, 3);
}

/* The gradient of w, allocated, with so many threads. */
static float *with_threads(int threads, int64_t nrows)
{
    FtB_Tape tape;
    FtB_Context ctx;
    FtB_Parameter w;
    FtB_Block W, G;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, threads));
    assert_ok(FtB_Context_engage(ctx));
    FtB_Block X = drawn_block(nrows, 8, FTB_FP32, 3), T = drawn_block(nrows, 3, FTB_FP32, 9);
    int64_t *rows = malloc((size_t)nrows * sizeof *rows);
    for (int64_t t = 0; t < nrows; t++)
        rows[t] = t * t % nrows;
    assert_ok(FtB_Parameter_new(&w, "w", 16, 8, FTB_FP32));
    assert_ok(FtB_Parameter_value(&W, w));
    fill_random(W, 4);
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var z = chain(FtB_input(tape, X), FtB_parameter(tape, w), rows, nrows);
    assert_ok(FtB_backward(FtB_squared_error(z, FtB_input(tape, T), NULL)));
    assert_ok(FtB_Parameter_gradient(&G, w));
    float *copy = malloc(16 * 8 * sizeof *copy);
    memcpy(copy, block_values(G), 16 * 8 * sizeof *copy);
    FtB_Block_free(&W);
    FtB_Block_free(&G);
    FtB_Parameter_free(&w);
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Block_free(&T);
    free(rows);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    return copy;
}

static void threads(void **state)
{
    (void)state;
    float *one = with_threads(1, 20011), *three = with_threads(3, 20011);
    assert_memory_equal(one, three, 16 * 8 * sizeof *one);
    free(one);
    free(three);
}

/* ---- the caller's own operation */

static GrB_Info refuse(const FtB_Operation_call *call)
{
    (void)call;
    return GrB_INVALID_VALUE;
}

static GrB_Info refuse_with_reason(const FtB_Operation_call *call)
{
    FtB_Block X;
    (void)call;
    return FtB_Block_new(&X, -1, 1, FTB_FP32);
}

static void custom(void **state)
{
    FtB_Tape tape;
    FtB_Block Y;
    (void)state;
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Parameter p = drawn_parameter("p", N, D, FTB_FP64, 1);
    FtB_Var x = FtB_parameter(tape, p);
    FtB_Operation op = {NULL, refuse, NULL};
    FtB_Var y = FtB_custom(&op, &x, 1, 2, 3, NULL);
    assert_fails(GrB_INVALID_VALUE, "custom: 'custom' returned -3: the operation's own function failed",
                 FtB_evaluate(&Y, y));
    op = (FtB_Operation){"mine", refuse_with_reason, NULL};
    y = FtB_custom(&op, &x, 1, 2, 3, NULL);
    assert_fails(GrB_INVALID_VALUE, "'mine' returned -3: FtB_Block_new", FtB_evaluate(&Y, y));
    op = (FtB_Operation){"mine", product_forward,
                         NULL}; /* without a gradient: as if its inputs were constants */
    calls = 0;
    FtB_Block T = drawn_block(N, D, FTB_FP64, 4);
    FtB_Var z = FtB_custom(&op, (const FtB_Var[]){x, x}, 2, N, D, &scaled);
    assert_fails(GrB_INVALID_VALUE, "no parameter",
                 FtB_backward(FtB_squared_error(z, FtB_input(tape, T), NULL)));
    assert_ok(FtB_backward(FtB_squared_error(FtB_add(x, z), FtB_input(tape, T), NULL)));
    assert_true(calls >= 2);
    FtB_Block_free(&T);
    FtB_Parameter_free(&p);
    FtB_Tape_free(&tape);
}

/* ---- errors */

typedef struct bad {
    GrB_Info info;
    const char *message;
    FtB_Var (*make)(FtB_Var x, FtB_Var e, FtB_Tape tape);
} bad;

static const int64_t outside[] = {0, 7};

static FtB_Var bad_concat(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t;
    return FtB_concat(x, e);
}
static FtB_Var bad_concat_rows(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)e;
    return FtB_concat(x, FtB_rows(x, outside, 1));
}
static FtB_Var bad_columns(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)e;
    return FtB_columns(x, 5, 2);
}
static FtB_Var bad_columns_none(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)e;
    return FtB_columns(x, 5, 0);
}
static FtB_Var bad_columns_edges(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)x;
    return FtB_columns(e, 0, 1);
}
static FtB_Var bad_rows(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)e;
    return FtB_rows(x, outside, 2);
}
static FtB_Var bad_rows_null(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)e;
    return FtB_rows(x, NULL, 2);
}
static FtB_Var bad_rows_count(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)e;
    return FtB_rows(x, outside, -1);
}
static FtB_Var bad_mean(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)x;
    return FtB_mean_heads(e);
}
static FtB_Var bad_softmax(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)e;
    return FtB_edge_softmax(x, FTB_BY_ROW);
}
static FtB_Var bad_by(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    (void)t, (void)x;
    return FtB_edge_softmax(e, (FtB_By)7);
}
static FtB_Var bad_custom(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    const FtB_Operation op = {"f", NULL, NULL};
    (void)t, (void)e;
    return FtB_custom(&op, &x, 1, 1, 1, NULL);
}
static FtB_Var bad_custom_shape(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    const FtB_Operation op = {"f", refuse, NULL};
    (void)t, (void)e;
    return FtB_custom(&op, &x, 1, 1, 0, NULL);
}
static FtB_Var bad_custom_count(FtB_Var x, FtB_Var e, FtB_Tape t)
{
    const FtB_Operation op = {"f", refuse, NULL};
    (void)t, (void)e;
    return FtB_custom(&op, &x, 33, 1, 1, NULL);
}

static const bad refused[] = {
    {GrB_DIMENSION_MISMATCH, "FtB_concat: x is 7 x 6 fp64, y is 11 edges x 6 fp64", bad_concat},
    {GrB_DIMENSION_MISMATCH, "FtB_concat: x is 7 x 6 fp64, y is 1 x 6 fp64", bad_concat_rows},
    {GrB_INDEX_OUT_OF_BOUNDS, "FtB_columns: 2 columns from 5 on; expected some of x's, 0 to 5", bad_columns},
    {GrB_INDEX_OUT_OF_BOUNDS, "FtB_columns: 0 columns", bad_columns_none},
    {GrB_DIMENSION_MISMATCH, "FtB_columns: x is 11 edges x 6 fp64; expected a dense variable",
     bad_columns_edges},
    {GrB_INDEX_OUT_OF_BOUNDS, "FtB_rows: rows[1] is 7; expected 0 to 6", bad_rows},
    {GrB_NULL_POINTER, "FtB_rows: rows is NULL", bad_rows_null},
    {GrB_INVALID_VALUE, "FtB_rows: count is -1", bad_rows_count},
    {GrB_DIMENSION_MISMATCH, "FtB_mean_heads: x is 11 edges", bad_mean},
    {GrB_DIMENSION_MISMATCH, "FtB_edge_softmax: e is 7 x 6 fp64; expected a variable on the edges",
     bad_softmax},
    {GrB_INVALID_VALUE, "FtB_edge_softmax: by is 7", bad_by},
    {GrB_NULL_POINTER, "FtB_custom: operation has no forward function", bad_custom},
    {GrB_INVALID_VALUE, "FtB_custom: the result is 1 x 0", bad_custom_shape},
    {GrB_INVALID_VALUE, "FtB_custom: 33 inputs; expected 1 to 32", bad_custom_count}};

static void errors(void **state)
{
    FtB_Tape tape;
    FtB_Matrix A = small_graph(), E;
    (void)state;
    assert_ok(FtB_Matrix_like(&E, A, D, FTB_FP64));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Block X = drawn_block(N, D, FTB_FP64, 1), Y;
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        FtB_Var x = FtB_input(tape, X), e = FtB_input_edges(tape, E), y = refused[k].make(x, e, tape);
        assert_int_equal(y.node, -1);
        assert_fails(refused[k].info, refused[k].message, FtB_Tape_status(tape));
        assert_fails(refused[k].info, refused[k].message, FtB_evaluate(&Y, FtB_relu(y)));
        assert_int_equal(refused[k].make(y, y, tape).node, -1); /* what follows a failed variable fails too */
        assert_fails(refused[k].info, refused[k].message, FtB_Tape_status(tape));
        assert_ok(FtB_Tape_reset(tape));
    }
    FtB_Block_free(&X);
    FtB_Tape_free(&tape);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&E);
}

/* ---- failing allocations */

static GrB_Info all_of_it(void *arg)
{
    const operation op = *(const operation *)arg;
    FtB_Tape tape = NULL;
    FtB_Parameter p = NULL, w = NULL;
    FtB_Block T = NULL;
    FtB_Matrix A = small_graph();
    int64_t nrows, ncols;
    GrB_Info info = A ? FtB_Tape_new(&tape, 1) : GrB_OUT_OF_MEMORY;
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_new(&p, "p", N, D, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_new(&w, "w", N, D, FTB_FP64);
    if (info != GrB_SUCCESS)
        goto done;
    FtB_Var x = FtB_parameter(tape, p), z = op(FtB_tanh(x), FtB_parameter(tape, w), A);
    info = FtB_Var_shape(z, &nrows, &ncols);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&T, nrows, ncols, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_backward(FtB_squared_error(z, FtB_input(tape, T), NULL));
done:
    FtB_Block_free(&T);
    FtB_Parameter_free(&p);
    FtB_Parameter_free(&w);
    FtB_Tape_free(&tape);
    FtB_Matrix_free(&A);
    return info;
}

static void failing_allocations(void **state)
{
    static operation operations[] = {use_concat,     use_columns,       use_rows,
                                     use_mean_heads, use_softmax_twice, use_custom_twice};
    (void)state;
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
        fail_every_allocation(all_of_it, NULL, &operations[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients),
                                       cmocka_unit_test(moves),
                                       cmocka_unit_test(not_a_number),
                                       cmocka_unit_test(threads),
                                       cmocka_unit_test(custom),
                                       cmocka_unit_test(errors),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
