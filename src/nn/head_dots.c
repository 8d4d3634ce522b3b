/* y(i, h) = dot(x(i, h, :), a(h, :)): half of an attention score for each row and head.
 *
 *     dx(i, h, :) = dy(i, h) a(h, :),   da(h, :) = sum over i of dy(i, h) x(i, h, :)
 */
#include "cpu/nn/head_dots_run.h"
#include "nn/layers/layer.h"
#include "ops/backends.h"

static ftb_head_dots_product product_of(const ftb_nn_node *n, const ftb_nn_call *c)
{
    return (ftb_head_dots_product){.ctx = c->ctx,
                                   .type = n->type,
                                   .nrows = n->nrows,
                                   .heads = n->ncols,
                                   .width = ftb_node_in(n, 0)->ncols / n->ncols,
                                   .ldx = c->in[0] ? c->in[0]->ld : 0};
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    ftb_head_dots_product p = product_of(n, c);
    p.ldy = c->out->ld;
    const ftb_place places[] = {{.X = c->in[0], .read = &p.x},
                                {.X = c->in[1], .read = &p.a},
                                {.X = c->out, .write = &p.y, .whole = true}};
    const ftb_backend *who = FTB_WHO(c->ctx, head_dots);
    GrB_Info info;
    FTB_RUN(info, who, head_dots, places, &p);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    ftb_head_dots_product p = product_of(n, c);
    const FtB_Block dx = c->din[0], da = c->din[1];
    p.lddy = c->dout->ld;
    p.lddx = dx ? dx->ld : 0;
    p.add_dx = c->add[0];
    p.add_da = c->add[1];
    const ftb_place places[] = {{.X = da ? c->in[0] : NULL, .read = &p.x},
                                {.X = dx ? c->in[1] : NULL, .read = &p.a},
                                {.X = c->dout, .read = &p.dy},
                                {.X = dx, .write = &p.dx, .whole = !p.add_dx},
                                {.X = da, .write = &p.da, .whole = !p.add_da}};
    const ftb_backend *who = FTB_WHO(c->ctx, head_dots_grad);
    GrB_Info info;
    FTB_RUN(info, who, head_dots_grad, places, &p);
    return info;
}

static bool needs(const ftb_nn_node *n, int k) { return ftb_node_in(n, 1 - k)->gradient; }

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "dot(x, a) of %lld rows and %lld heads", (long long)n->nrows, (long long)n->ncols);
}

static const ftb_nn_op op = {.name = "head_dots",
                             .flags = FTB_NN_NEEDS_IN,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print};

FtB_Var ftb_head_dots(FtB_Var x, FtB_Var a, int64_t heads)
{
    x = FtB_heads(x, heads);
    a = FtB_heads(a, heads);
    FtB_Tape tape = ftb_var_tape(x, a);
    const ftb_nn_node *nx = ftb_var_of(tape, x, "head_dots", "x"),
                      *na = ftb_var_of(tape, a, "head_dots", "a");
    if (!nx || !na)
        return (FtB_Var){tape, -1};
    char shape[2][80];
    if (na->nrows != 1 || na->ncols != nx->ncols || na->type != nx->type)
        return ftb_var_failed(x.tape, ftb_fail(GrB_DIMENSION_MISMATCH,
                                               "x is %s, a is %s; expected one row of x's columns and dtype",
                                               ftb_node_shape(nx, shape[0], sizeof shape[0]),
                                               ftb_node_shape(na, shape[1], sizeof shape[1])));
    const int64_t in[2] = {x.node, a.node};
    ftb_nn_node *n = ftb_node_new(x.tape, &op, in, 2, nx->nrows, heads, 0);
    if (!n)
        return ftb_var_lost(x);
    n->heads = heads;
    return ftb_node_var(n);
}
