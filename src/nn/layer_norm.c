/* Y(i,:) = (X(i,:) - mean) / sqrt(variance + eps) gain + shift, over the columns of each row. Means and
 * deviations are kept for the gradient, which is one pass over X and dY for all of dX, dgain and dshift. Ba,
 * Kiros, Hinton, "Layer normalization", 2016. */
#include "nn/norm.h"

typedef struct layer_norm {
    int gain, shift; /* inputs; -1: none */
    double eps;
} layer_norm;

static ftb_norm describe(const ftb_nn_node *n, const ftb_nn_call *c)
{
    const layer_norm *l = n->state;
    return (ftb_norm){.ncols = n->ncols,
                      .x = ftb_block_data(c->in[0]),
                      .ldx = c->in[0]->ld,
                      .gain = l->gain < 0 ? NULL : ftb_block_data(c->in[l->gain]),
                      .stats = c->extra ? ftb_block_data(c->extra) : NULL,
                      .eps = l->eps};
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const layer_norm *l = n->state;
    ftb_norm d = describe(n, c);
    d.shift = l->shift < 0 ? NULL : ftb_block_data(c->in[l->shift]);
    d.out = ftb_block_data(c->out);
    d.ldout = c->out->ld;
    ftb_norm_each(FTB_PICK_REAL(ftb_layer_norm, n->type), &d, n->nrows, c->ctx);
    return GrB_SUCCESS;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const layer_norm *l = n->state;
    double *sums = NULL;
    ftb_norm d = describe(n, c);
    d.dy = ftb_block_data(c->dout);
    d.lddy = c->dout->ld;
    d.add = c->add[0];
    if (c->din[0]) { /* with the sums: a row's gradient is read before it may be written over */
        d.out = ftb_block_data(c->din[0]);
        d.ldout = c->din[0]->ld;
    }
    GrB_Info info = ftb_norm_total(&sums, FTB_PICK_REAL(ftb_layer_norm_grad, n->type), &d, n->nrows, c->ctx);
    if (info != GrB_SUCCESS)
        return info;
    if (l->shift > 0 && c->din[l->shift])
        ftb_parts_put(ftb_block_data(c->din[l->shift]), c->din[l->shift]->type, sums + n->ncols,
                      c->din[l->shift]->ncols, c->add[l->shift]);
    if (l->gain > 0 && c->din[l->gain])
        ftb_parts_put(ftb_block_data(c->din[l->gain]), c->din[l->gain]->type, sums, c->din[l->gain]->ncols,
                      c->add[l->gain]);
    ftb_delete(sums);
    return GrB_SUCCESS;
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
