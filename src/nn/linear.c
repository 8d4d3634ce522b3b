/* Y = X W (+ bias): a dense product, or sparse times dense where X is a sparse input; of X on edges, Y too
 * lies there.
 *
 * dX = dY W', dW = X' dY, dbias = sum of dY's rows. */
#include "nn/shape.h"

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    bool add = n->nin > 2, sparse = ftb_node_in(n, 0)->sparse;
    GrB_Info info = add ? ftb_rows_repeat(c->out, c->in[2]) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return info;
    if (sparse)
        return FtB_mxm(c->out, NULL, ftb_plus_if(add, c->out), FTB_PLUS_MUL, c->in_edges[0], c->in[1], NULL);
    return ftb_dense_multiply(FTB_AB, c->out, c->in[0], c->in[1], add, c->ctx);
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    GrB_Info info = GrB_SUCCESS;
    bool sparse = ftb_node_in(n, 0)->sparse;
    if (c->din[2])
        info = FtB_reduce(c->din[2], NULL, ftb_plus_if(c->add[2], c->din[2]), "plus", c->dout, FTB_DESC_T0);
    if (info == GrB_SUCCESS && c->din[1] && sparse)
        info = FtB_mxm(c->din[1], NULL, ftb_plus_if(c->add[1], c->din[1]), FTB_PLUS_MUL, c->in_edges[0],
                       c->dout, FTB_DESC_T0);
    else if (info == GrB_SUCCESS && c->din[1])
        info = ftb_dense_multiply(FTB_ATB, c->din[1], c->in[0], c->dout, c->add[1], c->ctx);
    if (info == GrB_SUCCESS && c->din[0])
        info = ftb_dense_multiply(FTB_ABT, c->din[0], c->dout, c->in[1], c->add[0], c->ctx);
    return info;
}

static bool needs(const ftb_nn_node *n, int k)
{
    return (k == 0 && ftb_node_in(n, 1)->gradient) || (k == 1 && ftb_node_in(n, 0)->gradient);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    const ftb_nn_node *x = ftb_node_in(n, 0);
    fprintf(file, "%s product, %lld x %lld x %lld%s", x->sparse ? "sparse x dense" : "dense",
            (long long)n->nrows, (long long)x->ncols, (long long)n->ncols, n->nin > 2 ? ", plus bias" : "");
}

static double operations(const ftb_nn_node *n)
{
    const ftb_nn_node *x = ftb_node_in(n, 0);
    double inner = x->sparse ? (double)x->graph->pattern->nvals : (double)x->nrows * (double)x->ncols;
    return 2 * inner * (double)n->ncols;
}

static const ftb_nn_op op = {.name = "linear",
                             .flags = FTB_NN_NEEDS_IN,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print,
                             .operations = operations};

static FtB_Var record(const ftb_nn_node *x, const ftb_nn_node *w, const ftb_nn_node *bias, const char *call)
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
    const int64_t in[3] = {x->number, w->number, bias ? bias->number : -1};
    int64_t nrows = x->nrows, ncols = w->ncols;
    FtB_Type type = w->type;
    ftb_nn_node *n = ftb_node_new(tape, &op, in, bias ? 3 : 2, nrows, ncols, 0);
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
    return nx && nw ? record(nx, nw, NULL, "FtB_matmul") : (FtB_Var){tape, -1};
}

FtB_Var FtB_linear(FtB_Var x, FtB_Parameter w, FtB_Parameter bias)
{
    if (!ftb_var(x, "FtB_linear", "x"))
        return ftb_var_lost(x);
    const ftb_nn_node *nw = ftb_var(FtB_parameter(x.tape, w), "FtB_linear", "w"),
                      *nb = nw && bias ? ftb_var(FtB_parameter(x.tape, bias), "FtB_linear", "bias") : NULL;
    if (!nw || (bias && !nb))
        return ftb_var_lost(x);
    return record(x.tape->nodes[x.node], nw, nb, "FtB_linear");
}
