/* Y = X W (+ bias), or Y = Z + X W, in Z's memory where nobody else needs it: a dense product, or sparse
 * times dense where X is a sparse input; of X on edges, Y too lies there.
 *
 * dX = dY W', dW = X' dY, dbias = sum of dY's rows, dZ = dY.
 *
 * Where X is the first rows of another variable, as the targets of a hop are of its sources, that one is the
 * input, and nothing is copied. */
#include "nn/shape.h"

static const ftb_nn_op onto;

/* The input that is X; W is the next. Z is before them, bias behind. */
static int x_of(const ftb_nn_node *n) { return n->op == &onto; }

/* Rows `from` to `end` - 1 of a block. */
static struct FtB_Block_opaque rows_of(const struct FtB_Block_opaque *X, int64_t from, int64_t end)
{
    struct FtB_Block_opaque part = *X;
    part.nrows = end - from;
    part.offset += from * X->ld * (int64_t)FtB_Type_size(X->type);
    return part;
}

/* Puts what the product is added to into `out`. */
static GrB_Info begin(const ftb_nn_node *n, const ftb_nn_call *c)
{
    if (!x_of(n))
        return ftb_rows_repeat(c->out, c->in[2]);
    if (ftb_block_address(c->out) == ftb_block_address(c->in[0]))
        return GrB_SUCCESS;
    return FtB_apply(c->out, NULL, NULL, "x", c->in[0], NULL);
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const int x = x_of(n);
    const bool add = n->nin > 2, sparse = ftb_node_in(n, x)->sparse;
    const bool here = !sparse && ftb_dense_is_here(c->ctx), row = here && add && !x;
    const GrB_Info info = add && !row ? begin(n, c) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return info;
    if (sparse)
        return FtB_mxm(c->out, NULL, ftb_plus_if(add, c->out), FTB_PLUS_MUL, c->in_edges[x], c->in[x + 1],
                       NULL);
    struct FtB_Block_opaque X = rows_of(c->in[x], 0, n->nrows);
    const ftb_dense_ends ends = {.row = row ? c->in[2] : NULL, .add = add && !row, .relu = c->relu};
    return row || c->relu ? ftb_dense_multiply_here(c->out, &X, c->in[x + 1], &ends, c->ctx)
                          : ftb_dense_multiply(FTB_AB, c->out, &X, c->in[x + 1], add, c->ctx);
}

static bool takes_relu(const ftb_nn_node *n)
{
    return !ftb_node_in(n, x_of(n))->sparse && ftb_dense_is_here(n->tape->ctx);
}

/* Of rows that have no part in the product there is none. */
static GrB_Info input_gradient(const ftb_nn_node *n, const ftb_nn_call *c, int x)
{
    const FtB_Block dX = c->din[x];
    struct FtB_Block_opaque first = rows_of(dX, 0, n->nrows), rest = rows_of(dX, n->nrows, dX->nrows);
    GrB_Info info = rest.nrows > 0 && !c->add[x] ? ftb_block_fill(&rest, 0) : GrB_SUCCESS;
    return info == GrB_SUCCESS ? ftb_dense_multiply(FTB_ABT, &first, c->dout, c->in[x + 1], c->add[x], c->ctx)
                               : info;
}

/* dZ = or += dY, which may be the same memory. */
static GrB_Info pass_on(const ftb_nn_call *c)
{
    if (!c->din[0] || (!c->add[0] && ftb_block_address(c->din[0]) == ftb_block_address(c->dout)))
        return GrB_SUCCESS;
    return FtB_apply(c->din[0], NULL, ftb_plus_if(c->add[0], c->din[0]), "x", c->dout, NULL);
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    GrB_Info info = GrB_SUCCESS;
    const int x = x_of(n), w = x + 1;
    bool sparse = ftb_node_in(n, x)->sparse;
    if (!x && c->din[2])
        info = FtB_reduce(c->din[2], NULL, ftb_plus_if(c->add[2], c->din[2]), "plus", c->dout, FTB_DESC_T0);
    if (info == GrB_SUCCESS && c->din[w] && sparse)
        info = FtB_mxm(c->din[w], NULL, ftb_plus_if(c->add[w], c->din[w]), FTB_PLUS_MUL, c->in_edges[x],
                       c->dout, FTB_DESC_T0);
    else if (info == GrB_SUCCESS && c->din[w]) {
        struct FtB_Block_opaque X = rows_of(c->in[x], 0, n->nrows);
        info = ftb_dense_multiply(FTB_ATB, c->din[w], &X, c->dout, c->add[w], c->ctx);
    }
    if (info == GrB_SUCCESS && c->din[x])
        info = input_gradient(n, c, x);
    return info == GrB_SUCCESS && x ? pass_on(c) : info;
}

static bool needs(const ftb_nn_node *n, int k)
{
    const int x = x_of(n);
    return (k == x && ftb_node_in(n, x + 1)->gradient) || (k == x + 1 && ftb_node_in(n, x)->gradient);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    const ftb_nn_node *x = ftb_node_in(n, x_of(n));
    fprintf(file, "%s product, %lld x %lld x %lld%s", x->sparse ? "sparse x dense" : "dense",
            (long long)n->nrows, (long long)x->ncols, (long long)n->ncols,
            x_of(n)      ? ", added to another"
            : n->nin > 2 ? ", plus bias"
                         : "");
}

static double operations(const ftb_nn_node *n)
{
    const ftb_nn_node *x = ftb_node_in(n, x_of(n));
    double inner = x->sparse ? (double)x->graph->pattern->nvals : (double)n->nrows * (double)x->ncols;
    return 2 * inner * (double)n->ncols;
}

#define LINEAR                                                                                               \
    .forward = forward, .gradient = gradient, .needs = needs, .takes_relu = takes_relu, .print = print,      \
    .operations = operations
static const ftb_nn_op op = {.name = "linear", .flags = FTB_NN_NEEDS_IN, LINEAR};
static const ftb_nn_op onto = {
    .name = "linear", .flags = FTB_NN_NEEDS_IN | FTB_NN_IN_PLACE | FTB_NN_GRAD_IN_PLACE, LINEAR};

/* z + x w, or x w + bias; z and bias may be NULL. */
static FtB_Var record(const ftb_nn_node *z, const ftb_nn_node *x, const ftb_nn_node *w,
                      const ftb_nn_node *bias, const char *call)
{
    FtB_Tape tape = x->tape;
    char shape[2][80];
    if (w->graph || w->nrows != x->ncols)
        return ftb_var_failed(tape, ftb_fail(GrB_DIMENSION_MISMATCH,
                                             "%s: x is %s, w is %s; expected x's columns as "
                                             "many as w's rows",
                                             call, ftb_node_shape(x, shape[0], sizeof shape[0]),
                                             ftb_node_shape(w, shape[1], sizeof shape[1])));
    if (bias && (bias->nrows != 1 || bias->ncols != w->ncols))
        return ftb_var_failed(tape,
                              ftb_fail(GrB_DIMENSION_MISMATCH, "%s: bias is %s; expected 1 x %lld", call,
                                       ftb_node_shape(bias, shape[0], sizeof shape[0]), (long long)w->ncols));
    if ((x->type != w->type && !x->sparse) || (bias && bias->type != w->type))
        return ftb_var_failed(tape, ftb_fail(GrB_DOMAIN_MISMATCH, "%s: x is %s, w is %s; expected one dtype",
                                             call, FtB_Type_name(x->type), FtB_Type_name(w->type)));
    const int64_t nrows = x->nrows, ncols = w->ncols;
    if (ftb_rows_are_first(x))
        x = ftb_node_in(x, 0);
    const int64_t in[3] = {z ? z->number : x->number, z ? x->number : w->number,
                           z      ? w->number
                           : bias ? bias->number
                                  : -1};
    FtB_Type type = w->type;
    ftb_nn_node *n = ftb_node_new(tape, z ? &onto : &op, in, z || bias ? 3 : 2, nrows, ncols, 0);
    if (!n)
        return (FtB_Var){tape, -1};
    n->type = type;
    if (x->graph && !x->sparse && ftb_node_on_edges(n, x->graph) != GrB_SUCCESS)
        return (FtB_Var){tape, -1};
    return ftb_node_var(n);
}

FtB_Var FtB_matmul(FtB_Var x, FtB_Var w)
{
    FtB_Tape tape = ftb_var_tape(x, w);
    const ftb_nn_node *nx = ftb_var_of(tape, x, "FtB_matmul", "x"),
                      *nw = ftb_var_of(tape, w, "FtB_matmul", "w");
    return nx && nw ? record(NULL, nx, nw, NULL, "FtB_matmul") : (FtB_Var){tape, -1};
}

FtB_Var FtB_linear(FtB_Var x, FtB_Parameter w, FtB_Parameter bias)
{
    if (!ftb_var(x, "FtB_linear", "x"))
        return ftb_var_lost(x);
    const ftb_nn_node *nw = ftb_var(FtB_parameter(x.tape, w), "FtB_linear", "w"),
                      *nb = nw && bias ? ftb_var(FtB_parameter(x.tape, bias), "FtB_linear", "bias") : NULL;
    if (!nw || (bias && !nb))
        return ftb_var_lost(x);
    return record(NULL, x.tape->nodes[x.node], nw, nb, "FtB_linear");
}

FtB_Var ftb_matmul_onto(FtB_Var y, FtB_Var x, FtB_Var w)
{
    FtB_Tape tape = ftb_var_tape(y, x);
    const ftb_nn_node *ny = ftb_var_of(tape, y, "FtB_matmul", "y"),
                      *nx = ftb_var_of(tape, x, "FtB_matmul", "x"),
                      *nw = ftb_var_of(tape, w, "FtB_matmul", "w");
    return ny && nx && nw ? record(ny, nx, nw, NULL, "FtB_matmul") : (FtB_Var){tape, -1};
}
