/* Y(i,f) = mean over heads h of X(i,h,f). dX(i,h,f) = dY(i,f) / heads. */
#include "cpu/kernels/rows.h"
#include "nn/shape.h"

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    FtB_Block X = c->in[0], Y = c->out;
    int64_t heads = Y->ncols ? ftb_node_in(n, 0)->heads : 1; /* of no columns there may be any number */
    size_t size = FtB_Type_size(Y->type);
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(c->ctx, X->nrows * X->ncols))
    for (int64_t i = 0; i < Y->nrows; i++)
        FTB_PICK_REAL(ftb_heads_sum, Y->type)
    ((char *)ftb_block_data(Y) + (size_t)(i * Y->ld) * size,
     (const char *)ftb_block_data(X) + (size_t)(i * X->ld) * size, heads, Y->ncols, 1 / (double)heads);
    return GrB_SUCCESS;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    FtB_Block dX = c->din[0], dY = c->dout;
    int64_t heads = dY->ncols ? ftb_node_in(n, 0)->heads : 1;
    size_t size = FtB_Type_size(dY->type);
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(c->ctx, dX->nrows * dX->ncols))
    for (int64_t i = 0; i < dY->nrows; i++)
        FTB_PICK_REAL(ftb_heads_spread, dY->type)
    ((char *)ftb_block_data(dX) + (size_t)(i * dX->ld) * size,
     (const char *)ftb_block_data(dY) + (size_t)(i * dY->ld) * size, heads, dY->ncols, 1 / (double)heads,
     c->add[0]);
    return GrB_SUCCESS;
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "mean over %lld heads of %lld columns", (long long)ftb_node_in(n, 0)->heads,
            (long long)n->ncols);
}

static const ftb_nn_op op = {.name = "mean_heads", .forward = forward, .gradient = gradient, .print = print};

FtB_Var FtB_mean_heads(FtB_Var x)
{
    const ftb_nn_node *in = ftb_var_dense(x, "FtB_mean_heads", "x");
    if (!in)
        return ftb_var_lost(x);
    if (in->heads == 1)
        return x;
    const ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, in->nrows, in->ncols / in->heads, 0);
    return n ? ftb_node_var(n) : ftb_var_lost(x);
}
