/* Features of edges on a graph whose self-loops were added: an entry keeps its own, the loop of vertex i gets
 * the mean of those of the other edges into i, or 0.
 *
 *     dx(e) = dy(e) + dy(loop) / (other entries of the row);   of a loop that x had: 0 */
#include "cpu/nn/loop_edges_run.h"
#include "nn/layers/layer.h"

static ftb_looped_edges describe(const ftb_nn_node *n)
{
    return (ftb_looped_edges){.ctx = n->tape->ctx,
                              .type = n->type,
                              .width = n->ncols,
                              .p = ftb_node_in(n, 0)->graph->pattern,
                              .q = n->graph->pattern};
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const ftb_looped_edges l = describe(n);
    GrB_Info info = ftb_nn_ask_host(n, c);
    if (info == GrB_SUCCESS)
        ftb_looped_edges_run(&l, ftb_block_data(c->out), ftb_block_data(c->in[0]));
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const ftb_looped_edges l = describe(n);
    GrB_Info info = ftb_nn_ask_host(n, c);
    if (info == GrB_SUCCESS)
        ftb_looped_edges_grad_run(&l, ftb_block_data(c->din[0]), ftb_block_data(c->dout), c->add[0]);
    return info;
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "edges with self-loops, %lld x %lld", (long long)n->nrows, (long long)n->ncols);
}

static const ftb_nn_op op = {.name = "loop_edges", .forward = forward, .gradient = gradient, .print = print};

FtB_Var ftb_loop_edges(FtB_Var x, FtB_Matrix B)
{
    const ftb_nn_node *in = ftb_var(x, "loop_edges", "x");
    if (!in)
        return ftb_var_lost(x);
    ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, B->pattern->nvals, in->ncols, 0);
    if (!n || ftb_node_on_edges(n, B) != GrB_SUCCESS)
        return ftb_var_lost(x);
    return ftb_node_var(n);
}
