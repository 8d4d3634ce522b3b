/* Errors of recording: a tape learns of every mistake in any argument, whatever call it is. The calls that
 * take variables are read from the header; lists of operands may be as long as they are said to be. What
 * layers refuse: options, and graphs and features that do not fit. */
#include "support/check.h"

#include "core/core.h"
#include "featblas_nn.h"
#include "nn/nn.h"
#include "support/gradients.h"
#include "support/rng.h"
#include "support/tapes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = SMALL_VERTICES, D = 6, MOST = 3 };

typedef struct fixture {
    FtB_Tape tape, other, failed;
    FtB_Matrix A, E;
    FtB_Block X, W;
    FtB_Parameter p, mean, variance;
    FtB_Layer layer;
} fixture;

/* ---- every call */

static const int32_t labels[N] = {0, 1, 2, 3, 4, 5, 0};
static const int64_t few[] = {2, 0}, graph_of[N] = {0, 0, 0, 1, 1, 1, 1};

static GrB_Info no_forward(const FtB_Operation_call *call)
{
    (void)call;
    return GrB_SUCCESS;
}

/* X(name, kinds of its variables, the call with variables v). x: rows; w: D x D; t: targets; e: on edges. */
#define LIST(...) ((const FtB_Operand[]){__VA_ARGS__})
#define CALLS(X)                                                                                             \
    X(FtB_relu, "x", FtB_relu(v[0]))                                                                         \
    X(FtB_leaky_relu, "x", FtB_leaky_relu(v[0], 0.2))                                                        \
    X(FtB_elu, "x", FtB_elu(v[0]))                                                                           \
    X(FtB_sigmoid, "x", FtB_sigmoid(v[0]))                                                                   \
    X(FtB_tanh, "x", FtB_tanh(v[0]))                                                                         \
    X(FtB_gelu, "x", FtB_gelu(v[0]))                                                                         \
    X(FtB_scale, "x", FtB_scale(v[0], 2))                                                                    \
    X(FtB_add, "xx", FtB_add(v[0], v[1]))                                                                    \
    X(FtB_subtract, "xx", FtB_subtract(v[0], v[1]))                                                          \
    X(FtB_times, "xx", FtB_times(v[0], v[1]))                                                                \
    X(FtB_dropout, "x", FtB_dropout(v[0], 0.5))                                                              \
    X(FtB_keep, "x", FtB_keep(v[0]))                                                                         \
    X(FtB_heads, "x", FtB_heads(v[0], 2))                                                                    \
    X(FtB_mean_heads, "x", FtB_mean_heads(v[0]))                                                             \
    X(FtB_concat, "xx", FtB_concat(v[0], v[1]))                                                              \
    X(FtB_columns, "x", FtB_columns(v[0], 1, 2))                                                             \
    X(FtB_rows, "x", FtB_rows(v[0], few, 2))                                                                 \
    X(FtB_pool, "x", FtB_pool(v[0], graph_of, 2, FTB_POOL_MEAN))                                             \
    X(FtB_layer_norm, "x", FtB_layer_norm(v[0], NULL, NULL, 1e-5))                                           \
    X(FtB_batch_norm, "x", FtB_batch_norm(v[0], NULL, NULL, f->mean, f->variance, 0.1, 1e-5))                \
    X(FtB_cross_entropy, "x", FtB_cross_entropy(v[0], labels, NULL))                                         \
    X(FtB_binary_cross_entropy, "xt", FtB_binary_cross_entropy(v[0], v[1], NULL))                            \
    X(FtB_squared_error, "xt", FtB_squared_error(v[0], v[1], NULL))                                          \
    X(FtB_matmul, "xw", FtB_matmul(v[0], v[1]))                                                              \
    X(FtB_linear, "x", FtB_linear(v[0], f->p, NULL))                                                         \
    X(FtB_edge_softmax, "e", FtB_edge_softmax(v[0], FTB_BY_ROW))                                             \
    X(FtB_custom, "xxx", FtB_custom(&(FtB_Operation){"mine", no_forward, NULL}, v, 3, N, D, NULL))           \
    X(FtB_Layer_apply, "xxe", FtB_Layer_apply(f->layer, f->A, v[0], v[1], v[2]))                             \
    X(FtB_multiply, "xxe",                                                                                   \
      (FtB_multiply)(FTB_SLOT("plus : src * edge * dst"), f->A,                                              \
                     LIST({"src", v[0]}, {"dst", v[1]}, {"edge", v[2]}), 3))                                 \
    X(FtB_multiply_transposed, "xw",                                                                         \
      (FtB_multiply_transposed)(FTB_SLOT("plus : src @ w"), f->A, LIST({"src", v[0]}, {"w", v[1]}), 2))      \
    X(FtB_on_edges, "xxe",                                                                                   \
      (FtB_on_edges)(FTB_SLOT("plus : dot(src, dst) * edge"), f->A,                                          \
                     LIST({"src", v[0]}, {"dst", v[1]}, {"edge", v[2]}), 3))                                 \
    X(FtB_attend, "xxx",                                                                                     \
      (FtB_attend)(FTB_SLOT("plus : dot(src, dst)"), f->A, 0,                                                \
                   LIST({"src", v[0]}, {"dst", v[1]}, {"values", v[2]}), 3))                                 \
    X(FtB_map, "xxx", (FtB_map)("x * y + z", LIST({"x", v[0]}, {"y", v[1]}, {"z", v[2]}), 3))

#define DEFINE(name, kinds, call)                                                                            \
    static FtB_Var use_##name(const fixture *f, const FtB_Var *v)                                            \
    {                                                                                                        \
        (void)f;                                                                                             \
        return call;                                                                                         \
    }
CALLS(DEFINE)

static const struct {
    const char *name, *kinds;
    FtB_Var (*use)(const fixture *f, const FtB_Var *v);
} calls[] = {
#define ROW(name, kinds, call) {#name, kinds, use_##name},
    CALLS(ROW)};
#define NCALLS (sizeof calls / sizeof *calls)

/* Every function of the header that gives a variable and takes some is among the calls. */
static void all_are_here(void **state)
{
    char path[4096], *line = NULL;
    size_t room = 0;
    int found = 0;
    (void)state;
    for (int file = 0; file < 2; file++) {
        snprintf(path, sizeof path, "%s/include/%s", getenv("FEATBLAS_SOURCE_DIR"),
                 file ? "featblas/nn_layers.h" : "featblas_nn.h");
        FILE *in = fopen(path, "r");
        assert_non_null(in);
        while (getdelim(&line, &room, ';', in) > 0) {
            const char *start = strstr(line, "\nFtB_Var FtB_");
            char name[64];
            if (!start || sscanf(start, " FtB_Var %63[A-Za-z_0-9](", name) != 1 ||
                (!strstr(start + 9, "FtB_Var ") && !strstr(start, "FtB_Var *") &&
                 !strstr(start, "FtB_Operand ")))
                continue;
            size_t k = 0;
            while (k < NCALLS && strcmp(calls[k].name, name) != 0)
                k++;
            if (k == NCALLS)
                fail_msg("%s is not among the calls of this test", name);
            found++;
        }
        fclose(in);
    }
    free(line);
    assert_int_equal(found, NCALLS);
}

static void begin(fixture *f)
{
    *f = (fixture){.A = small_graph()};
    assert_ok(FtB_Tape_new(&f->tape, 1));
    assert_ok(FtB_Tape_new(&f->other, 1));
    assert_ok(FtB_Tape_new(&f->failed, 1));
    assert_ok(FtB_Matrix_like(&f->E, f->A, D, FTB_FP64));
    f->X = drawn_block(N, D, FTB_FP64, 1);
    f->W = drawn_block(D, D, FTB_FP64, 2);
    f->p = drawn_parameter("p", D, D, FTB_FP64, 3);
    f->mean = drawn_parameter("mean", 1, D, FTB_FP64, 4);
    f->variance = drawn_parameter("variance", 1, D, FTB_FP64, 5);
    assert_ok(FtB_Parameter_set_trained(f->mean, false));
    assert_ok(FtB_Parameter_set_trained(f->variance, false));
    assert_ok(FtB_Layer_new(&f->layer, "gat", D, 2,
                            FTB_LAYER_OPTIONS(.type = FTB_FP64, .edge_width = D, .no_self_loops = true)));
}

static void end(fixture *f)
{
    FtB_Tape_free(&f->tape);
    FtB_Tape_free(&f->other);
    FtB_Tape_free(&f->failed);
    FtB_Layer_free(&f->layer);
    FtB_Parameter_free(&f->p);
    FtB_Parameter_free(&f->mean);
    FtB_Parameter_free(&f->variance);
    FtB_Block_free(&f->X);
    FtB_Block_free(&f->W);
    FtB_Matrix_free(&f->E);
    FtB_Matrix_free(&f->A);
}

/* Fresh records; v: what the call takes. */
static void record(const fixture *f, const char *kinds, FtB_Var *v)
{
    assert_ok(FtB_Tape_reset(f->tape));
    assert_ok(FtB_Tape_reset(f->other));
    assert_ok(FtB_Tape_reset(f->failed));
    (void)FtB_input(f->other, f->X);
    (void)FtB_heads(FtB_input(f->failed, f->X), 5);
    FtB_Var x = FtB_parameter(f->tape, f->p);
    x = FtB_matmul(FtB_input(f->tape, f->X), x);
    for (int k = 0; kinds[k]; k++)
        v[k] = kinds[k] == 'w'   ? FtB_input(f->tape, f->W)
               : kinds[k] == 't' ? FtB_input(f->tape, f->X)
               : kinds[k] == 'e' ? FtB_input_edges(f->tape, f->E)
                                 : x;
}

/* The call's error is the tape's, names the call, and is what running says. */
static void assert_known(FtB_Var y, const char *name)
{
    FtB_Block Y;
    char message[512];
    assert_int_equal(y.node, -1);
    if (!y.tape)
        fail_msg("%s: the variable that failed has no tape", name);
    GrB_Info info = FtB_Tape_status(y.tape);
    snprintf(message, sizeof message, "%s", FtB_error());
    if (info == GrB_SUCCESS || !strstr(message, name + strlen("FtB_")))
        fail_msg("%s: status %d, \"%s\"", name, (int)info, message);
    assert_fails(info, message, FtB_evaluate(&Y, y));
    assert_fails(info, message, FtB_backward(y));
}

enum { NOTHING, OTHER, OF_FAILED, NOT_RECORDED, TOO_LARGE, MISTAKES };

static FtB_Var mistake(const fixture *f, int which)
{
    switch (which) {
    case OTHER:
        return (FtB_Var){f->other, 0};
    case OF_FAILED:
        return (FtB_Var){f->failed, -1};
    case NOT_RECORDED:
        return (FtB_Var){f->tape, -1};
    case TOO_LARGE:
        return (FtB_Var){f->tape, 1000};
    default:
        return FTB_NO_VAR;
    }
}

static void any_argument(void **state)
{
    fixture f;
    FtB_Var v[MOST];
    (void)state;
    begin(&f);
    for (size_t c = 0; c < NCALLS; c++) {
        int count = (int)strlen(calls[c].kinds);
        record(&f, calls[c].kinds, v);
        if (calls[c].use(&f, v).node < 0)
            fail_msg("%s: %d, %s", calls[c].name, (int)FtB_Tape_status(f.tape), FtB_error());
        assert_ok(FtB_Tape_status(f.tape));
        for (int k = 0; k < count; k++)
            for (int which = 0; which < MISTAKES; which++) {
                bool none = strcmp(calls[c].name, "FtB_Layer_apply") == 0 && k == 2 && which == NOTHING;
                if (none || (count == 1 && which < NOT_RECORDED)) /* as it should be, or nobody's tape */
                    continue;
                record(&f, calls[c].kinds, v);
                v[k] = mistake(&f, which);
                FtB_Var y = calls[c].use(&f, v);
                if (y.tape != f.failed)
                    assert_known(y, calls[c].name);
            }
    }
    end(&f);
}

/* ---- lists */

typedef FtB_Var (*listed)(FtB_Matrix A, const FtB_Operand *operands, size_t count);

static FtB_Var list_multiply(FtB_Matrix A, const FtB_Operand *operands, size_t count)
{
    return (FtB_multiply)(FTB_SLOT("plus : src"), A, operands, count);
}
static FtB_Var list_transposed(FtB_Matrix A, const FtB_Operand *operands, size_t count)
{
    return (FtB_multiply_transposed)(FTB_SLOT("plus : src"), A, operands, count);
}
static FtB_Var list_edges(FtB_Matrix A, const FtB_Operand *operands, size_t count)
{
    return (FtB_on_edges)(FTB_SLOT("plus : src"), A, operands, count);
}
static FtB_Var list_attend(FtB_Matrix A, const FtB_Operand *operands, size_t count)
{
    return (FtB_attend)(FTB_SLOT("plus : dot(src, dst)"), A, 0, operands, count);
}
static FtB_Var list_map(FtB_Matrix A, const FtB_Operand *operands, size_t count)
{
    (void)A;
    return (FtB_map)("src", operands, count);
}

static const struct {
    const char *name;
    listed use;
} lists[] = {{"FtB_multiply", list_multiply},
             {"FtB_multiply_transposed", list_transposed},
             {"FtB_on_edges", list_edges},
             {"FtB_attend", list_attend},
             {"FtB_map", list_map}};

static void refuse(FtB_Tape tape, FtB_Var y, const char *name, const char *text)
{
    assert_known(y, name);
    if (!strstr(FtB_error(), text))
        fail_msg("%s: \"%s\"; expected \"%s\"", name, FtB_error(), text);
    assert_ok(FtB_Tape_reset(tape));
}

static void list_errors(void **state)
{
    fixture f;
    FtB_Operand o[FTB_NN_INPUTS + 1];
    char name[FTB_NN_INPUTS + 1][16];
    (void)state;
    begin(&f);
    for (size_t c = 0; c < sizeof lists / sizeof *lists; c++) {
        const char *call = lists[c].name;
        for (int k = 0; k <= FTB_NN_INPUTS; k++) {
            snprintf(name[k], sizeof name[k], k ? "s%d" : "src", k);
            o[k] = (FtB_Operand){name[k], FTB_NO_VAR};
        }
        for (int at = 0; at < 3; at++) { /* where the variable of the tape is */
            int place = at == 0 ? 0 : at == 1 ? 1 : FTB_NN_INPUTS;
            o[0].name = "src";
            o[place].var = FtB_input(f.tape, f.X);
            refuse(f.tape, lists[c].use(f.A, o, FTB_NN_INPUTS + 1), call, "33 operands; at most 32");
            o[place].var = FtB_input(f.tape, f.X);
            o[0].name = NULL;
            refuse(f.tape, lists[c].use(f.A, o, (size_t)ftb_min(place + 2, FTB_NN_INPUTS + 1)), call,
                   place + 2 > FTB_NN_INPUTS ? "33 operands" : "operand 0 has no name");
            o[place].var = FTB_NO_VAR;
        }
        o[0] = (FtB_Operand){"a_name_of_32_characters_in_all__", FtB_input(f.tape, f.X)};
        refuse(f.tape, lists[c].use(f.A, o, 1), call,
               "operand 0 is named 'a_name_of_32_characters_in_all__'; expected at most 31 characters");
        o[0] = o[1] = (FtB_Operand){"src", FtB_input(f.tape, f.X)};
        refuse(f.tape, lists[c].use(f.A, o, 2), call, "two operands are named 'src'");
        assert_int_equal(lists[c].use(f.A, NULL, 0).node, -1); /* nobody's tape */
        assert_ok(FtB_Tape_status(f.tape));
    }
    end(&f);
}

/* ---- as many operands as may be, with names as long as may be */

enum { FREE = FTB_NN_INPUTS - 2 };

/* "w00 * ... ": names of 31 characters, of which the first part numbers them. */
static void long_name(char *name, int k)
{
    memset(name, 'n', 31);
    name[31] = '\0';
    name[snprintf(name, 32, "w%02d", k)] = 'n';
}

/* As many gates as there may be; gradients of the first and the last. */
static void many_operands(void **state)
{
    static const char *const forms[] = {"%s * src * dst", "dot(%s[j], dst) * src", "(src @ %s) * dst"};
    fixture f;
    (void)state;
    begin(&f);
    for (int form = 0; form < 3; form++) {
        char text[FREE * 80] = "plus : ", name[FREE][32];
        FtB_Operand o[FTB_NN_INPUTS];
        FtB_Parameter p[FREE];
        FtB_Var x = FtB_input(f.tape, f.X);
        o[0] = (FtB_Operand){"src", x};
        o[1] = (FtB_Operand){"dst", x};
        for (int k = 0; k < FREE; k++) {
            size_t at = strlen(text);
            long_name(name[k], k);
            at += (size_t)snprintf(text + at, sizeof text - at, "%s", k ? " + " : "");
            snprintf(text + at, sizeof text - at, forms[form], name[k]);
            p[k] = drawn_parameter(name[k],
                                   form == 0   ? 1
                                   : form == 1 ? N
                                               : D,
                                   form == 0 ? 1 : D, FTB_FP64, 100 + (uint64_t)k);
            o[k + 2] = (FtB_Operand){name[k], FtB_parameter(f.tape, p[k])};
        }
        FtB_Var y = (FtB_multiply)(FTB_SLOT((const char *)text), f.A, o, FTB_NN_INPUTS);
        assert_ok(FtB_Tape_status(f.tape));
        for (int k = 0; k < FREE; k += FREE - 1)
            assert_gradients(FtB_squared_error(y, x, NULL), &p[k], 1, 1e-6);
        assert_ok(FtB_Tape_reset(f.tape));
        for (int k = 0; k < FREE; k++)
            FtB_Parameter_free(&p[k]);
    }
    end(&f);
}

static GrB_Info add_all(const FtB_Operation_call *call)
{
    double *to = block_values(call->out);
    for (int64_t t = 0; t < call->out->nrows * call->out->ncols; t++) {
        to[t] = 0;
        for (int k = 0; k < FTB_NN_INPUTS; k++)
            to[t] += ((const double *)block_values(call->in[k]))[t];
    }
    return GrB_SUCCESS;
}

/* The sum of 32 blocks, by an expression and by a function of the caller's. */
static void many_rows(void **state)
{
    char text[FTB_NN_INPUTS * 16] = "", name[FTB_NN_INPUTS][16];
    fixture f;
    FtB_Operand o[FTB_NN_INPUTS];
    FtB_Var v[FTB_NN_INPUTS];
    FtB_Block X[FTB_NN_INPUTS], Y[2];
    (void)state;
    begin(&f);
    for (int k = 0; k < FTB_NN_INPUTS; k++) {
        snprintf(name[k], sizeof name[k], "x%d", k);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k ? " + " : "", name[k]);
        X[k] = drawn_block(N, D, FTB_FP64, 50 + (uint64_t)k);
        v[k] = FtB_input(f.tape, X[k]);
        o[k] = (FtB_Operand){name[k], v[k]};
    }
    FtB_Var y = (FtB_map)(text, o, FTB_NN_INPUTS),
            z = FtB_custom(&(FtB_Operation){"sum", add_all, NULL}, v, FTB_NN_INPUTS, N, D, NULL);
    assert_ok(FtB_evaluate(&Y[0], FtB_concat(y, z)));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) {
            long double sum = 0;
            for (int k = 0; k < FTB_NN_INPUTS; k++)
                sum += ((const double *)block_values(X[k]))[i * D + j];
            const double *row = (const double *)block_values(Y[0]) + i * 2 * D;
            assert_true(fabsl(row[j] - sum) < 1e-12L && fabsl(row[D + j] - sum) < 1e-12L);
        }
    FtB_Block_free(&Y[0]);
    for (int k = 0; k < FTB_NN_INPUTS; k++)
        FtB_Block_free(&X[k]);
    end(&f);
}

/* ---- records that would not end */

static void recording_ends(void **state)
{
    static const char *const kinds[] = {"sgc", "appnp"};
    FtB_Context ctx;
    fixture f;
    (void)state;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_memory_limit(ctx, 16 << 20));
    assert_ok(FtB_Context_engage(ctx));
    begin(&f);
    for (int k = 0; k < 2; k++) {
        FtB_Layer layer;
        assert_ok(FtB_Layer_new(&layer, kinds[k], D, D,
                                FTB_LAYER_OPTIONS(.type = FTB_FP64, .hops = INT64_C(1000000000))));
        FtB_Var x = FtB_input(f.tape, f.X);
        assert_int_equal(FtB_Layer_apply(layer, f.A, x, x, FTB_NO_VAR).node, -1);
        assert_fails(FTB_LIMIT, "", FtB_Tape_status(f.tape));
        assert_ok(FtB_Tape_reset(f.tape));
        x = FtB_input(f.tape, f.X);
        assert_ok(FtB_Context_cancel(ctx));
        assert_int_equal(FtB_Layer_apply(layer, f.A, x, x, FTB_NO_VAR).node, -1);
        assert_fails(FTB_CANCELLED, "cancelled", FtB_Tape_status(f.tape));
        assert_ok(FtB_Tape_reset(f.tape));
        assert_int_equal(FtB_relu(FtB_input(f.tape, f.X)).node, 1); /* once: what follows is recorded */
        assert_ok(FtB_Tape_reset(f.tape));
        FtB_Layer_free(&layer);
    }
    end(&f);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

/* ---- layers */

static void options_that_are_refused(void **state)
{
    FtB_Layer layer;
    (void)state;
    assert_fails(GrB_INVALID_VALUE, "sage: options: aggregate is 'median'",
                 FtB_Layer_new(&layer, "sage", 3, 3, FTB_LAYER_OPTIONS(.aggregate = "median")));
    assert_null(layer);
    assert_fails(GrB_INVALID_VALUE, "mlp: options: aggregate is 'pool'",
                 FtB_Layer_new(&layer, "mlp", 3, 3, FTB_LAYER_OPTIONS(.aggregate = "pool")));
    assert_fails(GrB_DIMENSION_MISMATCH, "appnp: 3 to 4 columns", FtB_Layer_new(&layer, "appnp", 3, 4, NULL));
    assert_fails(GrB_INVALID_VALUE, "teleport is 2",
                 FtB_Layer_new(&layer, "appnp", 3, 3, FTB_LAYER_OPTIONS(.teleport = 2)));
    assert_fails(GrB_INVALID_VALUE, "rgcn: options: relations is 0",
                 FtB_Layer_new(&layer, "rgcn", 3, 3, NULL));
    assert_fails(GrB_INVALID_VALUE, "pna: options: log_degree is -1",
                 FtB_Layer_new(&layer, "pna", 3, 3, FTB_LAYER_OPTIONS(.log_degree = -1)));
    assert_fails(GrB_INVALID_VALUE, "edgeconv: options: aggregate is 'min'",
                 FtB_Layer_new(&layer, "edgeconv", 3, 3, FTB_LAYER_OPTIONS(.aggregate = "min")));
    assert_fails(GrB_INVALID_VALUE, "unknown kind 'gnc'; known: appnp, ",
                 FtB_Layer_new(&layer, "gnc", 3, 3, NULL));
    assert_fails(GrB_INVALID_VALUE, "in_dst",
                 FtB_Layer_new(&layer, "sage", 3, 3, FTB_LAYER_OPTIONS(.in_dst = -1)));
}

/* Applying the layer to a graph and features that do not fit. */
static void refuse_graph(const char *kind, FtB_Matrix A, int64_t columns, GrB_Info code, const char *text)
{
    FtB_Tape tape;
    FtB_Layer layer;
    FtB_Block X, Y;
    assert_ok(
        FtB_Layer_new(&layer, kind, 3, 3,
                      FTB_LAYER_OPTIONS(.type = FTB_FP64, .relations = strcmp(kind, "rgcn") == 0 ? 2 : 0)));
    assert_ok(FtB_Block_new(&X, A->pattern->ncols, columns, FTB_FP64));
    assert_ok(FtB_Block_new(&Y, A->pattern->nrows, columns, FTB_FP64));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Layer_apply(layer, A, FtB_input(tape, X), FtB_input(tape, Y), FTB_NO_VAR);
    assert_fails(code, text, FtB_Tape_status(tape));
    FtB_Tape_free(&tape);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Layer_free(&layer);
}

static void two_tapes(void **state)
{
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 7, 7, 0, 0.3);
    FtB_Tape tapes[2];
    FtB_Layer layer;
    FtB_Block X;
    (void)state;
    assert_ok(FtB_Block_new(&X, 7, 3, FTB_FP32));
    assert_ok(FtB_Layer_new(&layer, "sage", 3, 3, NULL));
    assert_ok(FtB_Tape_new(&tapes[0], 1));
    assert_ok(FtB_Tape_new(&tapes[1], 1));
    FtB_Layer_apply(layer, A, FtB_input(tapes[0], X), FtB_input(tapes[1], X), FTB_NO_VAR);
    assert_fails(GrB_INVALID_VALUE, "FtB_Layer_apply: dst is a variable of another tape",
                 FtB_Tape_status(tapes[0]));
    FtB_Tape_free(&tapes[0]);
    FtB_Tape_free(&tapes[1]);
    FtB_Layer_free(&layer);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

static void graphs_that_are_refused(void **state)
{
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 5, 8, 0, 0.3);
    (void)state;
    refuse_graph("gcn", A, 3, GrB_DIMENSION_MISMATCH, "gcn: A is 5 x 8; expected a square matrix");
    refuse_graph("sgc", A, 3, GrB_DIMENSION_MISMATCH, "sgc: A is 5 x 8; expected a square matrix");
    refuse_graph("appnp", A, 3, GrB_DIMENSION_MISMATCH, "appnp: A is 5 x 8; expected a square matrix");
    refuse_graph("sage", A, 4, GrB_DIMENSION_MISMATCH, "sage, src: 8 x 4 fp64; expected 8 x 3");
    refuse_graph("rgcn", A, 3, GrB_DIMENSION_MISMATCH,
                 "A has 0 values per entry; expected one, an edge type");
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 7, 7, 1, 1, (int64_t[]){4}, (int64_t[]){2}, (double[]){2},
                               FTB_DUP_ERROR, NULL));
    refuse_graph("rgcn", A, 3, GrB_INVALID_VALUE, "rgcn: A(4, 2) is 2; expected an edge type, 0 to 1");
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_are_here),
                                       cmocka_unit_test(any_argument),
                                       cmocka_unit_test(list_errors),
                                       cmocka_unit_test(many_operands),
                                       cmocka_unit_test(many_rows),
                                       cmocka_unit_test(recording_ends),
                                       cmocka_unit_test(options_that_are_refused),
                                       cmocka_unit_test(graphs_that_are_refused),
                                       cmocka_unit_test(two_tapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
