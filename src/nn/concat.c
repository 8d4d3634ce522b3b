/* Z = [X, Y]: columns side by side. dX and dY are dZ's columns. */
#include "nn/shape.h"

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    int64_t at = 0;
    GrB_Info info = GrB_SUCCESS;
    for (int k = 0; k < n->nin && info == GrB_SUCCESS; at += ftb_node_in(n, k++)->ncols)
        info = ftb_columns_copy(c->out, at, c->in[k], 0, ftb_node_in(n, k)->ncols, false);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    int64_t at = n->ncols;
    GrB_Info info = GrB_SUCCESS;
    for (int k = n->nin - 1; k >= 0 && info == GrB_SUCCESS; k--) {
        at -= ftb_node_in(n, k)->ncols;
        if (c->din[k])
            info = ftb_columns_copy(c->din[k], 0, c->dout, at, ftb_node_in(n, k)->ncols, c->add[k]);
    }
    return info;
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "columns side by side, %lld and %lld", (long long)ftb_node_in(n, 0)->ncols,
            (long long)ftb_node_in(n, 1)->ncols);
}

static const ftb_nn_op op = {.name = "concat", .forward = forward, .gradient = gradient, .print = print};

FtB_Var FtB_concat(FtB_Var x, FtB_Var y)
{
    char shape[2][80];
    FtB_Tape tape = ftb_var_tape(x, y);
    const ftb_nn_node *a = ftb_var_of(tape, x, "FtB_concat", "x"),
                      *b = ftb_var_of(tape, y, "FtB_concat", "y");
    if (!a || !b)
        return (FtB_Var){tape, -1};
    bool places = a->graph ? b->graph && b->graph->pattern == a->graph->pattern : !b->graph;
    if (a->sparse || b->sparse || !places || a->nrows != b->nrows || a->type != b->type)
        return ftb_var_failed(
            x.tape, ftb_fail(GrB_DIMENSION_MISMATCH,
                             "FtB_concat: x is %s, y is %s; expected rows of the same number and dtype",
                             ftb_node_shape(a, shape[0], sizeof shape[0]),
                             ftb_node_shape(b, shape[1], sizeof shape[1])));
    const int64_t in[2] = {x.node, y.node};
    ftb_nn_node *n = ftb_node_new(x.tape, &op, in, 2, a->nrows, a->ncols + b->ncols, 0);
    if (!n || (a->graph && ftb_node_on_edges(n, a->graph) != GrB_SUCCESS))
        return ftb_var_lost(x);
    return ftb_node_var(n);
}
