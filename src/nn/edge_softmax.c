/* S = softmax of a variable on edges over the entries of each row or column: FtB_softmax. The gradient needs
 * S alone, so S may be where the scores were. */
#include "nn/nn.h"

typedef struct edge_softmax {
    FtB_By by;
} edge_softmax;

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    return FtB_softmax(c->out_edges, c->in_edges[0], ((const edge_softmax *)n->state)->by);
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    FtB_By by = ((const edge_softmax *)n->state)->by;
    FtB_Block made = NULL;
    FtB_Matrix edges = NULL;
    if (!c->add[0])
        return FtB_softmax_grad(c->din_edges[0], c->out_edges, c->dout_edges, by);
    GrB_Info info = FtB_Block_new(&made, n->nrows, n->ncols, n->type);
    if (info == GrB_SUCCESS)
        info = ftb_matrix_over(&edges, n->graph->pattern, made);
    if (info == GrB_SUCCESS)
        info = FtB_softmax_grad(edges, c->out_edges, c->dout_edges, by);
    if (info == GrB_SUCCESS)
        info = FtB_eWiseMult(c->din[0], NULL, NULL, "x + y", c->din[0], made, NULL);
    FtB_Matrix_free(&edges);
    FtB_Block_free(&made);
    return info;
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "softmax by %s, %lld entries x %lld",
            ((const edge_softmax *)n->state)->by == FTB_BY_ROW ? "row" : "column", (long long)n->nrows,
            (long long)n->ncols);
}

static const ftb_nn_op op = {.name = "edge_softmax",
                             .flags = FTB_NN_NEEDS_OUT | FTB_NN_IN_PLACE | FTB_NN_GRAD_IN_PLACE,
                             .forward = forward,
                             .gradient = gradient,
                             .print = print};

FtB_Var FtB_edge_softmax(FtB_Var e, FtB_By by)
{
    char shape[80];
    const ftb_nn_node *in = ftb_var(e, "FtB_edge_softmax", "e");
    if (!in)
        return ftb_var_lost(e);
    if (!in->graph || in->sparse)
        return ftb_var_failed(
            e.tape, ftb_fail(GrB_DIMENSION_MISMATCH,
                             "FtB_edge_softmax: e is %s; expected a variable on the edges of a matrix",
                             ftb_node_shape(in, shape, sizeof shape)));
    if (by != FTB_BY_ROW && by != FTB_BY_COLUMN)
        return ftb_var_failed(
            e.tape, ftb_fail(GrB_INVALID_VALUE,
                             "FtB_edge_softmax: by is %d; expected FTB_BY_ROW or FTB_BY_COLUMN", (int)by));
    ftb_nn_node *n = ftb_node_new(e.tape, &op, &e.node, 1, in->nrows, in->ncols, sizeof(edge_softmax));
    if (!n)
        return ftb_var_lost(e);
    ((edge_softmax *)n->state)->by = by;
    return ftb_node_like(n, in);
}
