/* The same memory seen as heads: no run does anything, values and gradients are those of the input. */
#include "nn/nn.h"

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "view, %lld heads", (long long)n->heads);
}

static const ftb_nn_op op = {.name = "heads", .print = print};

FtB_Var FtB_heads(FtB_Var x, int64_t heads)
{
    const ftb_nn_node *in = ftb_var(x, "FtB_heads", "x");
    if (!in)
        return ftb_var_lost(x);
    if (in->sparse)
        return ftb_var_failed(x.tape, ftb_fail(GrB_INVALID_VALUE, "FtB_heads: x is sparse"));
    if (heads < 1 || in->ncols % heads != 0)
        return ftb_var_failed(x.tape,
                              ftb_fail(GrB_DIMENSION_MISMATCH, "FtB_heads: %lld heads of %lld columns",
                                       (long long)heads, (long long)in->ncols));
    if (heads == in->heads)
        return x;
    ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, in->nrows, in->ncols, 0);
    if (!n)
        return ftb_var_lost(x);
    n->heads = heads;
    n->root = in->root;
    if (in->graph && ftb_node_on_edges(n, in->graph) != GrB_SUCCESS)
        return ftb_var_lost(x);
    return ftb_node_var(n);
}
