/* Y(i,:) = (X(i,:) - mean) / sqrt(variance + eps) gain + shift, over the columns of each row. Means and
 * deviations are kept for the gradient, which is one pass over X and dY for all of dX, dgain and dshift. Ba,
 * Kiros, Hinton, "Layer normalization", 2016. */
#include "cpu/nn/norm_run.h"
#include "nn/shape.h"
#include "ops/backends.h"

typedef struct layer_norm {
    int gain, shift; /* inputs; -1: none */
    double eps;
} layer_norm;

static ftb_norm_product product_of(const ftb_nn_node *n, const ftb_nn_call *c)
{
    return (ftb_norm_product){.ctx = c->ctx,
                              .type = n->type,
                              .nrows = n->nrows,
                              .ncols = n->ncols,
                              .ldx = c->in[0]->ld,
                              .eps = ((const layer_norm *)n->state)->eps};
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const layer_norm *l = n->state;
    ftb_norm_product p = product_of(n, c);
    p.ldy = c->out->ld;
    const ftb_place places[] = {{.X = c->in[0], .read = &p.x},
                                {.X = ftb_input_or_none(c->in, l->gain), .read = &p.gain},
                                {.X = ftb_input_or_none(c->in, l->shift), .read = &p.shift},
                                {.X = c->extra, .write = &p.keep, .whole = true},
                                {.X = c->out, .write = &p.y, .whole = true}};
    const ftb_backend *who = FTB_WHO(c->ctx, layer_norm);
    GrB_Info info;
    FTB_RUN(info, who, layer_norm, places, &p);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const layer_norm *l = n->state;
    const FtB_Block dx = c->din[0], dgain = ftb_input_or_none(c->din, l->gain),
                    dshift = ftb_input_or_none(c->din, l->shift);
    ftb_norm_product p = product_of(n, c);
    p.lddy = c->dout->ld;
    p.lddx = dx ? dx->ld : 0;
    p.add_dx = c->add[0];
    p.add_dgain = dgain && c->add[l->gain];
    p.add_dshift = dshift && c->add[l->shift];
    const ftb_place places[] = {{.X = c->in[0], .read = &p.x},
                                {.X = ftb_input_or_none(c->in, l->gain), .read = &p.gain},
                                {.X = c->extra, .read = &p.kept},
                                {.X = c->dout, .read = &p.dy},
                                {.X = dx, .write = &p.dx, .whole = !p.add_dx},
                                {.X = dgain, .write = &p.dgain, .whole = !p.add_dgain},
                                {.X = dshift, .write = &p.dshift, .whole = !p.add_dshift}};
    const ftb_backend *who = FTB_WHO(c->ctx, layer_norm_grad);
    GrB_Info info;
    FTB_RUN(info, who, layer_norm_grad, places, &p);
    return info;
}

static bool needs(const ftb_nn_node *n, int k) { return k == 0 || k == ((const layer_norm *)n->state)->gain; }

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "layer norm of %lld rows, eps %g", (long long)n->nrows,
            ((const layer_norm *)n->state)->eps);
}

static const ftb_nn_op op = {.name = "layer_norm",
                             .flags = FTB_NN_NEEDS_IN | FTB_NN_IN_PLACE | FTB_NN_GRAD_IN_PLACE,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print};

FtB_Var FtB_layer_norm(FtB_Var x, FtB_Parameter gain, FtB_Parameter shift, double eps)
{
    const ftb_nn_node *in = ftb_var_dense(x, "FtB_layer_norm", "x");
    int64_t inputs[3] = {x.node}, at;
    int count = 1;
    layer_norm made = {.gain = -1, .shift = -1, .eps = eps};
    if (!in)
        return ftb_var_lost(x);
    if (!(eps >= 0))
        return ftb_var_failed(
            x.tape, ftb_fail(GrB_INVALID_VALUE, "FtB_layer_norm: eps is %g; expected 0 or more", eps));
    if (!ftb_var_row(&at, in, gain, "FtB_layer_norm", "gain"))
        return ftb_var_lost(x);
    if (gain)
        inputs[made.gain = count++] = at;
    if (!ftb_var_row(&at, in, shift, "FtB_layer_norm", "shift"))
        return ftb_var_lost(x);
    if (shift)
        inputs[made.shift = count++] = at;
    ftb_nn_node *n = ftb_node_new(x.tape, &op, inputs, count, in->nrows, in->ncols, sizeof(layer_norm));
    if (!n)
        return ftb_var_lost(x);
    *(layer_norm *)n->state = made;
    n->extra_rows = n->nrows;
    n->extra_cols = 2;
    n->extra_type = n->type;
    return ftb_node_like(n, in);
}
