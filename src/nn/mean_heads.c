/* Y(i,f) = mean over heads h of X(i,h,f). dX(i,h,f) = dY(i,f) / heads. */
#include "cpu/nn/mean_heads_run.h"
#include "nn/shape.h"
#include "ops/backends.h"

static ftb_mean_heads_product product_of(const ftb_nn_node *n, FtB_Block y, FtB_Block x)
{
    return (ftb_mean_heads_product){.ctx = n->tape->ctx,
                                    .type = n->type,
                                    .nrows = n->nrows,
                                    .heads = n->ncols ? ftb_node_in(n, 0)->heads
                                                      : 1, /* of no columns there may be any number */
                                    .width = n->ncols,
                                    .ldx = x->ld,
                                    .ldy = y->ld};
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    ftb_mean_heads_product p = product_of(n, c->out, c->in[0]);
    const ftb_place places[] = {{.X = c->in[0], .read = &p.x}, {.X = c->out, .write = &p.y, .whole = true}};
    const ftb_backend *who = FTB_WHO(c->ctx, mean_heads);
    GrB_Info info;
    FTB_RUN(info, who, mean_heads, places, &p);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    ftb_mean_heads_product p = product_of(n, c->din[0], c->dout);
    p.add = c->add[0];
    const ftb_place places[] = {{.X = c->dout, .read = &p.x},
                                {.X = c->din[0], .write = &p.y, .whole = !p.add}};
    const ftb_backend *who = FTB_WHO(c->ctx, mean_heads_grad);
    GrB_Info info;
    FTB_RUN(info, who, mean_heads_grad, places, &p);
    return info;
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
