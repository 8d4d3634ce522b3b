/* Empty extents: blocks without columns, matrices without rows, columns or entries, in attention, plans and
 * tapes. They give what arithmetic says, sums of nothing are 0, or are refused by name; no plan is refused
 * where its call is not. */
#include "featblas_nn.h"

#include "core/core.h"
#include "support/check.h"
#include "support/planned.h"

#include <math.h>
#include <stdlib.h>

typedef struct extent {
    int64_t m, n, entries;
} extent;

static const extent extents[] = {{4, 5, 9}, {0, 5, 0}, {4, 0, 0}, {4, 5, 0}, {0, 0, 0}, {1, 1, 1}};
enum { EXTENTS = sizeof extents / sizeof *extents };

static FtB_Block block(int64_t nrows, int64_t ncols, FtB_Type type)
{
    FtB_Block X;
    void *data;
    assert_ok(FtB_Block_new(&X, nrows, ncols, type));
    assert_ok(FtB_Block_shape(X, NULL, NULL, NULL, NULL, &data));
    for (int64_t k = 0; k < nrows * ncols; k++)
        if (type == FTB_FP64)
            ((double *)data)[k] = 0.5 + 0.25 * (double)(k % 7);
        else
            ((float *)data)[k] = 0.5f + 0.25f * (float)(k % 7);
    return X;
}

static FtB_Matrix graph(const extent *e, FtB_Type type)
{
    int64_t I[16], J[16];
    double X[16];
    FtB_Matrix A, B;
    for (int64_t k = 0; k < e->entries; k++) {
        I[k] = k % e->m;
        J[k] = k % e->n;
        X[k] = (double)k + 1;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, e->m, e->n, 1, e->entries, I, J, X, FTB_DUP_LAST, NULL));
    if (type == FTB_FP64)
        return A;
    assert_ok(FtB_Matrix_like(&B, A, 1, type));
    FtB_Matrix_free(&A);
    return B;
}

static double value(FtB_Block X, int64_t i, int64_t j)
{
    int64_t ld;
    FtB_Type type;
    void *data;
    assert_ok(FtB_Block_shape(X, NULL, NULL, &ld, &type, &data));
    return type == FTB_FP64 ? ((double *)data)[i * ld + j] : (double)((float *)data)[i * ld + j];
}

static void free_blocks(FtB_Block *X, int count)
{
    for (int k = 0; k < count; k++)
        FtB_Block_free(&X[k]);
}

/* ---- attention */

/* Equal scores: a row's result is the mean of its values. */
static void check_means(FtB_Block C, FtB_Block V, const extent *e)
{
    for (int64_t i = 0; i < e->m; i++) {
        double sum = 0, count = 0;
        for (int64_t k = 0; k < e->entries; k++)
            if (k % e->m == i) {
                sum += value(V, k % e->n, 1);
                count++;
            }
        const double mean = count > 0 ? sum / count : 0;
        if (fabs(value(C, i, 1) - mean) > 1e-6)
            fail_msg("row %lld: %g, expected %g", (long long)i, value(C, i, 1), mean);
    }
}

static void check_attention(const extent *e, const char *text, int64_t width)
{
    FtB_Matrix A = graph(e, FTB_FP32);
    FtB_Block b[] = {block(e->m, width, FTB_FP32), block(e->n, width, FTB_FP32), block(e->n, 2, FTB_FP32),
                     block(e->m, 2, FTB_FP32),     block(e->m, width, FTB_FP32), block(e->n, width, FTB_FP32),
                     block(e->n, 2, FTB_FP32),     block(e->m, 2, FTB_FP32),     block(e->m, 1, FTB_FP32)};
    FtB_Block Q = b[0], K = b[1], V = b[2], C = b[3], dQ = b[4], dK = b[5], dV = b[6], dC = b[7], lse = b[8];
    FtB_Semiring score;
    assert_ok(FtB_Semiring_new(&score, text));
    for (int kernel = 0; kernel < 3; kernel++)
        for (int effort = FTB_ESTIMATE; effort <= FTB_MEASURE; effort++) {
            static const char *const kernels[] = {NULL, "fused", "staged"};
            FtB_Plan plan;
            FtB_Descriptor desc;
            assert_ok(FtB_attention_plan(&plan, C, A, NULL, score, Q, K, V, NULL, NULL, (FtB_Effort)effort));
            assert_true(!kernel || FtB_Plan_set(plan, "kernel", kernels[kernel]) == GrB_SUCCESS);
            assert_true(planned_says(plan, "\n"));
            assert_ok(planned_descriptor(&desc, NULL, plan));
            assert_ok(FtB_attention(C, A, NULL, score, Q, K, V, FTB_ATTENTION_OPTIONS(.lse = lse), desc));
            if (width == 0)
                check_means(C, V, e);
            FtB_Descriptor_free(&desc);
            FtB_Plan_free(&plan);
        }
    if (width > 0) /* of other scores, the fused gradient is not known */
        assert_ok(FtB_attention_grad(dQ, dK, dV, dC, A, score, Q, K, V, C, FTB_ATTENTION_OPTIONS(.lse = lse),
                                     NULL));
    for (int64_t j = 0; j < e->n && e->entries == 0; j++)
        assert_true(width == 0 || (value(dV, j, 0) == 0 && value(dV, j, 1) == 0));
    FtB_Semiring_free(&score);
    free_blocks(b, 9);
    FtB_Matrix_free(&A);
}

static void attention(void **state)
{
    (void)state;
    for (int e = 0; e < EXTENTS; e++) {
        check_attention(&extents[e], "plus : dot(src, dst)", 3);
        check_attention(&extents[e], "plus : 1", 0);
        check_attention(&extents[e], "plus : leaky_relu(src + dst, 0.2)", 1);
    }
    FtB_Matrix A = graph(&extents[0], FTB_FP32);
    FtB_Block Q = block(4, 0, FTB_FP32), K = block(5, 0, FTB_FP32), C = block(4, 0, FTB_FP32),
              V = block(5, 2, FTB_FP32), H;
    FtB_Plan plan;
    assert_fails(GrB_DIMENSION_MISMATCH, "V: no columns",
                 FtB_attention(C, A, NULL, FTB_PLUS_DOT, Q, K, K, NULL, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "V: no columns",
                 FtB_attention_plan(&plan, C, A, NULL, FTB_PLUS_DOT, Q, K, K, NULL, NULL, FTB_MEASURE));
    assert_fails(GrB_DIMENSION_MISMATCH, "'dst' has no columns",
                 FtB_attention(C, A, NULL, FTB_PLUS_DOT, Q, K, V, NULL, NULL));
    assert_fails(GrB_INVALID_VALUE, "heads is 0", FtB_Block_heads(&H, Q, 0));
    FtB_Block_free(&Q);
    FtB_Block_free(&K);
    FtB_Block_free(&V);
    FtB_Block_free(&C);
    FtB_Matrix_free(&A);
}

/* ---- plans */

/* The plan is made, measured, explained and used wherever the call itself is taken. */
static void check_plan(FtB_Arg C, FtB_Arg M, const char *text, FtB_Arg A, FtB_Arg B, FtB_Descriptor like)
{
    const FtB_Arg none = FtB_Arg_none();
    const GrB_Info info = (FtB_mxm)(C, M, none, FTB_ARG(text), A, B, FTB_ARG(like));
    for (int effort = FTB_ESTIMATE; effort <= FTB_MEASURE; effort++) {
        FtB_Plan plan;
        FtB_Descriptor desc;
        if ((FtB_mxm_plan)(&plan, C, M, none, FTB_ARG(text), A, B, FTB_ARG(like), (FtB_Effort)effort) != info)
            fail_msg("%s: the call gives %d, its plan %s", text, (int)info, FtB_error());
        if (info != GrB_SUCCESS)
            continue;
        assert_true(planned_says(plan, "\n"));
        assert_ok(FtB_Plan_set(plan, "threads", "1"));
        assert_ok(planned_descriptor(&desc, like, plan));
        assert_ok((FtB_mxm)(C, M, none, FTB_ARG(text), A, B, FTB_ARG(desc)));
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
    }
}

static void check_plans(const extent *e, int64_t width)
{
    static const char *const rows[] = {"plus : src", "max : edge * src", "mean : src", "plus : tanh(src)",
                                       "any : src"},
                             *const entries[] = {"plus : dot(src, dst)", "plus : src * dst",
                                                 "plus : sum(src) + sum(dst)"},
                             *const pairs[] = {"plus : a * b", "plus : 1", "max : a + b"};
    const extent turned = {e->n, e->m, e->m && e->n ? e->entries : 0};
    FtB_Matrix A = graph(e, FTB_FP32), B = graph(&turned, FTB_FP32), S, R;
    FtB_Block X = block(e->n, width, FTB_FP32), Y = block(e->m, width, FTB_FP32),
              Q = block(e->m, width, FTB_FP32), one = block(e->m, 1, FTB_FP32);
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, e->m, e->n, 1));
    assert_ok(FtB_Matrix_new(&R, FTB_FP32, e->m, e->m, 1));
    for (int t = 0; t < 5; t++)
        check_plan(FTB_ARG(Y), FtB_Arg_none(), rows[t], FTB_ARG(A), FTB_ARG(X), NULL);
    check_plan(FTB_ARG(one), FtB_Arg_none(), "plus : edge", FTB_ARG(A), FTB_ARG(X), NULL);
    for (int t = 0; t < 3; t++) {
        check_plan(FTB_ARG(S), FTB_ARG(A), entries[t], FTB_ARG(Q), FTB_ARG(X), FTB_DESC_RST1);
        check_plan(FTB_ARG(R), FtB_Arg_none(), pairs[t], FTB_ARG(A), FTB_ARG(B), NULL);
    }
    FtB_Matrix *matrices[] = {&A, &B, &S, &R};
    FtB_Block *blocks[] = {&X, &Y, &Q, &one};
    for (int k = 0; k < 4; k++) {
        FtB_Matrix_free(matrices[k]);
        FtB_Block_free(blocks[k]);
    }
}

static void plans(void **state)
{
    (void)state;
    for (int e = 0; e < EXTENTS; e++)
        for (int64_t width = 0; width < 4; width += 3)
            check_plans(&extents[e], width);
}

/* A plan for blocks without columns is one for no other. */
static void plan_of_nothing(void **state)
{
    FtB_Matrix A = graph(&extents[0], FTB_FP32), other = graph(&extents[3], FTB_FP32);
    FtB_Block X = block(5, 0, FTB_FP32), Y = block(4, 0, FTB_FP32), wide = block(5, 2, FTB_FP32),
              into = block(4, 2, FTB_FP32);
    FtB_Plan plan;
    FtB_Descriptor desc;
    (void)state;
    assert_ok(FtB_mxm_plan(&plan, Y, NULL, NULL, "plus : src", A, X, NULL, FTB_ESTIMATE));
    assert_true(planned_figure(plan, "seconds") >= 0 && planned_figure(plan, "seconds") < 1e-3);
    assert_ok(planned_descriptor(&desc, NULL, plan));
    assert_fails(GrB_INVALID_VALUE, "plan: made for another product",
                 FtB_mxm(into, NULL, NULL, "plus : src", A, wide, desc));
    assert_fails(GrB_INVALID_VALUE, "plan: made for another product",
                 FtB_mxm(Y, NULL, NULL, "plus : src", other, X, desc));
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    FtB_Block *blocks[] = {&X, &Y, &wide, &into};
    for (int k = 0; k < 4; k++)
        FtB_Block_free(blocks[k]);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&other);
}

static void projections(void **state)
{
    static const char *const weights[] = {"count", "cosine", "jaccard", "bm25", "pearson", "hypergeometric"};
    (void)state;
    for (int e = 0; e < EXTENTS; e++)
        for (size_t w = 0; w < sizeof weights / sizeof *weights; w++)
            for (int effort = FTB_ESTIMATE; effort <= FTB_MEASURE; effort++) {
                FtB_Matrix R = graph(&extents[e], FTB_FP64), P;
                FtB_Plan plan;
                assert_ok(FtB_Matrix_new(&P, FTB_FP64, extents[e].n, extents[e].n, 1));
                assert_ok(FtB_project_plan(&plan, P, R, weights[w], NULL, (FtB_Effort)effort));
                assert_true(planned_says(plan, "\n"));
                assert_ok(FtB_project(P, R, weights[w], NULL));
                FtB_Plan_free(&plan);
                FtB_Matrix_free(&P);
                FtB_Matrix_free(&R);
            }
}

/* ---- tapes */

enum {
    MULTIPLY,
    LARGEST,
    TURNED,
    ON_EDGES,
    SOFTMAX,
    ATTEND,
    MAP,
    POOL,
    MATMUL,
    LINEAR,
    RELU,
    ADD,
    DROPOUT,
    MEAN_HEADS,
    CONCAT,
    NORM,
    STEPS
};

static FtB_Var step(int which, FtB_Matrix A, FtB_Var x, FtB_Parameter w, FtB_Parameter bias,
                    FtB_Parameter gain)
{
    static const int64_t graphs[8] = {0, 1, 0, 1, 1, 0, 0, 0};
    FtB_Var on_edges;
    switch (which) {
    case MULTIPLY:
        return FtB_multiply("plus : edge * src", A, FTB_OPERAND("src", x));
    case LARGEST:
        return FtB_multiply("max : src", A, FTB_OPERAND("src", x));
    case TURNED:
        return FtB_multiply_transposed("mean : src", A, FTB_OPERAND("src", x));
    case ON_EDGES:
    case SOFTMAX:
        on_edges = FtB_on_edges("plus : dot(src, dst)", A, FTB_OPERAND("src", x), FTB_OPERAND("dst", x));
        on_edges = which == SOFTMAX ? FtB_edge_softmax(on_edges, FTB_BY_ROW) : on_edges;
        return FtB_multiply("plus : edge * src", A, FTB_OPERAND("edge", on_edges), FTB_OPERAND("src", x));
    case ATTEND:
        return FtB_attend("plus : dot(src, dst)", A, 0, FTB_OPERAND("src", x), FTB_OPERAND("dst", x),
                          FTB_OPERAND("values", x));
    case MAP:
        return FtB_map("tanh(x) * 2", FTB_OPERAND("x", x));
    case POOL:
        return FtB_pool(x, graphs, 2, FTB_POOL_MEAN);
    case MATMUL:
        return FtB_matmul(x, FtB_parameter(x.tape, w));
    case LINEAR:
        return FtB_linear(x, w, bias);
    case RELU:
        return FtB_relu(x);
    case ADD:
        return FtB_add(x, x);
    case DROPOUT:
        return FtB_dropout(x, 0.5);
    case MEAN_HEADS:
        return FtB_mean_heads(FtB_heads(x, 1));
    case CONCAT:
        return FtB_concat(x, x);
    default:
        return FtB_layer_norm(x, gain, NULL, 1e-5);
    }
}

/* The mean square of all values. */
static FtB_Var total(FtB_Var y, int64_t nrows, int64_t ncols, FtB_Block *zeros)
{
    *zeros = block(nrows, ncols, FTB_FP64);
    return FtB_squared_error(y, FtB_input(y.tape, FTB_ARG(*zeros)), NULL);
}

static void assert_finite(FtB_Parameter p, bool zero)
{
    FtB_Block G;
    int64_t nrows, ncols;
    assert_ok(FtB_Parameter_gradient(&G, p));
    if (!G)
        return;
    assert_ok(FtB_Block_shape(G, &nrows, &ncols, NULL, NULL, NULL));
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t j = 0; j < ncols; j++)
            assert_true(isfinite(value(G, i, j)) && (!zero || value(G, i, j) == 0));
    FtB_Block_free(&G);
}

/* Runs a step; what it says if it is refused is *said, else "". */
static void run_step(int which, int64_t n, int64_t entries, int64_t width, const char **said)
{
    const extent e = {n, n, entries};
    const bool sums = which == MATMUL || which == LINEAR;
    FtB_Matrix A = graph(&e, FTB_FP64);
    FtB_Tape tape;
    FtB_Parameter x, w, bias, gain;
    FtB_Block Y = NULL, zeros = NULL;
    int64_t nrows, ncols;
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_Parameter_new(&x, "x", n, width, FTB_FP64));
    assert_ok(FtB_Parameter_new(&w, "w", width, 3, FTB_FP64));
    assert_ok(FtB_Parameter_new(&bias, "bias", 1, 3, FTB_FP64));
    assert_ok(FtB_Parameter_new(&gain, "gain", 1, width, FTB_FP64));
    assert_ok(FtB_Parameter_value(&Y, bias));
    for (int64_t j = 0; j < 3; j++)
        ((double *)block_values(Y))[j] = 0.5;
    FtB_Block_free(&Y);
    FtB_Var y = step(which, A, FtB_parameter(tape, x), w, bias, gain);
    const GrB_Info info = FtB_evaluate(&Y, y);
    *said = info == GrB_SUCCESS ? "" : FtB_error();
    if (info == GrB_SUCCESS) {
        assert_ok(FtB_Block_shape(Y, &nrows, &ncols, NULL, NULL, NULL));
        assert_int_equal(nrows, which == POOL ? 2 : n);
        assert_int_equal(ncols, sums ? 3 : which == CONCAT ? 2 * width : width);
        for (int64_t i = 0; i < nrows && sums && width == 0; i++)
            assert_true(value(Y, i, 2) == (which == LINEAR ? 0.5 : 0));
        FtB_Var loss = total(y, nrows, ncols, &zeros);
        if (nrows > 0 && ncols > 0) {
            assert_ok(FtB_backward(loss));
            assert_finite(x, false);
            assert_finite(w, width == 0);
        } else {
            assert_fails(GrB_DIMENSION_MISMATCH, "there is no mean of nothing", FtB_backward(loss));
        }
    }
    FtB_Block_free(&Y);
    FtB_Block_free(&zeros);
    FtB_Tape_free(&tape);
    FtB_Parameter *all[] = {&x, &w, &bias, &gain};
    for (int k = 0; k < 4; k++)
        FtB_Parameter_free(all[k]);
    FtB_Matrix_free(&A);
}

/* Products need columns, which the message is of; all else on tapes does without. */
static void tapes(void **state)
{
    static const char *const refusals[STEPS] = {
        [MULTIPLY] = "'src' has no columns",   [LARGEST] = "'src' has no columns",
        [TURNED] = "'src' has no columns",     [ON_EDGES] = "'src' has no columns",
        [SOFTMAX] = "'src' has no columns",    [ATTEND] = "'src' has no columns",
        [MAP] = "FtB_map: 'x' has no columns", [POOL] = "FtB_pool: x has no columns"};
    static const int64_t sizes[][2] = {{4, 9}, {4, 0}, {0, 0}, {1, 1}};
    (void)state;
    for (int which = 0; which < STEPS; which++)
        for (int s = 0; s < 4; s++)
            for (int64_t width = 0; width < 4; width += 3) {
                const char *said, *expected = width == 0 && refusals[which] ? refusals[which] : "";
                run_step(which, sizes[s][0], sizes[s][1], width, &said);
                if (*expected ? !strstr(said, expected) : *said)
                    fail_msg("step %d of %lld x %lld: \"%s\", expected \"%s\"", which, (long long)sizes[s][0],
                             (long long)width, said, expected);
            }
}

static void losses(void **state)
{
    const int32_t labels[4] = {0};
    (void)state;
    for (int rows = 0; rows < 2; rows++) {
        FtB_Tape tape;
        FtB_Block X = block(rows ? 0 : 4, rows ? 3 : 0, FTB_FP64), Y;
        assert_ok(FtB_Tape_new(&tape, 1));
        FtB_Var x = FtB_input(tape, FTB_ARG(X));
        assert_fails(GrB_DIMENSION_MISMATCH, "FtB_cross_entropy: x is",
                     FtB_evaluate(&Y, FtB_cross_entropy(x, labels, NULL)));
        assert_ok(FtB_Tape_reset(tape));
        x = FtB_input(tape, FTB_ARG(X));
        assert_fails(GrB_DIMENSION_MISMATCH, "FtB_binary_cross_entropy: x is",
                     FtB_evaluate(&Y, FtB_binary_cross_entropy(x, x, NULL)));
        assert_ok(FtB_Tape_reset(tape));
        x = FtB_input(tape, FTB_ARG(X));
        assert_fails(GrB_DIMENSION_MISMATCH, "FtB_squared_error: x is",
                     FtB_evaluate(&Y, FtB_squared_error(x, x, NULL)));
        FtB_Block_free(&X);
        FtB_Tape_free(&tape);
    }
}

/* On no entries and no vertices at all; columns, layers must have. */
static void layers(void **state)
{
#define KIND(name, options, formula) #name,
    static const char *const kinds[] = {FTB_LAYERS(KIND)};
#undef KIND
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int64_t n = 0; n < 5; n += 4) {
            const extent e = {n, n, 0};
            FtB_Matrix A = graph(&e, FTB_FP64);
            FtB_Block X = block(n, 3, FTB_FP64), Y, zeros = NULL;
            FtB_Layer layer, none;
            FtB_Tape tape;
            int64_t nrows, ncols;
            const int64_t relations = strcmp(kinds[k], "rgcn") == 0 ? 2 : 0;
            assert_ok(FtB_Tape_new(&tape, 1));
            assert_ok(FtB_Layer_new(&layer, kinds[k], 3, 3,
                                    FTB_LAYER_OPTIONS(.type = FTB_FP64, .relations = relations)));
            assert_fails(GrB_INVALID_VALUE, "0 to 3 columns; expected at least 1",
                         FtB_Layer_new(&none, kinds[k], 0, 3, NULL));
            assert_fails(GrB_INVALID_VALUE, "3 to 0 columns; expected at least 1",
                         FtB_Layer_new(&none, kinds[k], 3, 0, NULL));
            FtB_Var x = FtB_input(tape, FTB_ARG(X)), y = FtB_Layer_apply(layer, A, x, x, FTB_NO_VAR);
            assert_ok(FtB_evaluate(&Y, y));
            assert_ok(FtB_Block_shape(Y, &nrows, &ncols, NULL, NULL, NULL));
            assert_true(nrows == n && ncols == 3);
            for (int64_t i = 0; i < n; i++)
                assert_true(isfinite(value(Y, i, 0)));
            if (n > 0 && FtB_Layer_count(layer) > 0) {
                assert_ok(FtB_backward(total(y, n, 3, &zeros)));
                for (int64_t p = 0; p < FtB_Layer_count(layer); p++)
                    assert_finite(FtB_Layer_parameter(layer, p), false);
            }
            FtB_Block_free(&Y);
            FtB_Block_free(&X);
            FtB_Block_free(&zeros);
            FtB_Tape_free(&tape);
            FtB_Layer_free(&layer);
            FtB_Matrix_free(&A);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(attention),       cmocka_unit_test(plans),
                                       cmocka_unit_test(plan_of_nothing), cmocka_unit_test(projections),
                                       cmocka_unit_test(tapes),           cmocka_unit_test(losses),
                                       cmocka_unit_test(layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
