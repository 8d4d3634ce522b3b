/* Y(:,f) = (X(:,f) - mean) / sqrt(variance + eps) gain + shift, by columns: in training those of the rows at
 * hand, which also move the running ones; else the running ones.
 *
 *     running <- (1 - momentum) running + momentum new; its variance is the unbiased one
 *
 * Ioffe and Szegedy, "Batch normalization", ICML 2015. */
#include "cpu/nn/norm_run.h"
#include "nn/shape.h"
#include "ops/backends.h"

typedef struct batch_norm {
    int gain, shift, mean, variance; /* inputs; -1: none */
    double momentum, eps;
} batch_norm;

static ftb_norm_product product_of(const ftb_nn_node *n, const ftb_nn_call *c)
{
    const batch_norm *b = n->state;
    return (ftb_norm_product){.ctx = c->ctx,
                              .type = n->type,
                              .nrows = n->nrows,
                              .ncols = n->ncols,
                              .ldx = c->in[0]->ld,
                              .eps = b->eps,
                              .momentum = b->momentum};
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const batch_norm *b = n->state;
    const FtB_Block mean = c->in[b->mean], variance = c->in[b->variance];
    ftb_norm_product p = product_of(n, c);
    if (c->training && n->nrows == 1)
        return ftb_fail(GrB_INVALID_VALUE, "x has one row, which has no variance; training needs two");
    p.ldy = c->out->ld;
    const ftb_place places[] = {{.X = c->in[0], .read = &p.x},
                                {.X = ftb_input_or_none(c->in, b->gain), .read = &p.gain},
                                {.X = ftb_input_or_none(c->in, b->shift), .read = &p.shift},
                                {.X = c->training ? NULL : mean, .read = &p.mean},
                                {.X = c->training ? NULL : variance, .read = &p.variance},
                                {.X = c->training ? mean : NULL, .write = &p.running_mean},
                                {.X = c->training ? variance : NULL, .write = &p.running_variance},
                                {.X = c->extra, .write = &p.keep, .whole = true},
                                {.X = c->out, .write = &p.y, .whole = true}};
    const ftb_backend *who = FTB_WHO_FITS(c->ctx, batch_norm, &p);
    GrB_Info info;
    FTB_RUN(info, who, batch_norm, places, &p);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const batch_norm *b = n->state;
    const FtB_Block dx = c->din[0], dgain = ftb_input_or_none(c->din, b->gain),
                    dshift = ftb_input_or_none(c->din, b->shift);
    ftb_norm_product p = product_of(n, c);
    p.lddy = c->dout->ld;
    p.lddx = dx ? dx->ld : 0;
    p.add_dx = c->add[0];
    p.add_dgain = dgain && c->add[b->gain];
    p.add_dshift = dshift && c->add[b->shift];
    const ftb_place places[] = {{.X = c->in[0], .read = &p.x},
                                {.X = ftb_input_or_none(c->in, b->gain), .read = &p.gain},
                                {.X = c->extra, .read = &p.kept},
                                {.X = c->dout, .read = &p.dy},
                                {.X = dx, .write = &p.dx, .whole = !p.add_dx},
                                {.X = dgain, .write = &p.dgain, .whole = !p.add_dgain},
                                {.X = dshift, .write = &p.dshift, .whole = !p.add_dshift}};
    const ftb_backend *who = FTB_WHO_FITS(c->ctx, batch_norm_grad, &p);
    GrB_Info info;
    FTB_RUN(info, who, batch_norm_grad, places, &p);
    return info;
}

static bool needs(const ftb_nn_node *n, int k) { return k == 0 || k == ((const batch_norm *)n->state)->gain; }

static void print(const ftb_nn_node *n, FILE *file)
{
    const batch_norm *b = n->state;
    fprintf(file, "batch norm of %lld columns, momentum %g, eps %g", (long long)n->ncols, b->momentum,
            b->eps);
}

static const ftb_nn_op op = {.name = "batch_norm",
                             .flags = FTB_NN_NEEDS_IN | FTB_NN_IN_PLACE | FTB_NN_GRAD_IN_PLACE,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print};

/* ---- recording */

static GrB_Info check(FtB_Parameter mean, FtB_Parameter variance, double momentum, double eps)
{
    GrB_Info info = ftb_parameter_check(mean, "FtB_batch_norm: mean");
    if (info == GrB_SUCCESS)
        info = ftb_parameter_check(variance, "FtB_batch_norm: variance");
    if (info != GrB_SUCCESS)
        return info;
    if (mean == variance || mean->trained || variance->trained)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_batch_norm: mean and variance must be two parameters that are not trained "
                        "(FtB_Parameter_set_trained)");
    if (!(momentum >= 0 && momentum <= 1) || !(eps >= 0))
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_batch_norm: momentum is %g, eps is %g; expected 0 <= momentum <= 1, eps >= 0",
                        momentum, eps);
    return GrB_SUCCESS;
}

FtB_Var FtB_batch_norm(FtB_Var x, FtB_Parameter gain, FtB_Parameter shift, FtB_Parameter mean,
                       FtB_Parameter variance, double momentum, double eps)
{
    static const char *const names[] = {"gain", "shift", "mean", "variance"};
    const FtB_Parameter given[] = {gain, shift, mean, variance};
    const ftb_nn_node *in = ftb_var_dense(x, "FtB_batch_norm", "x");
    int64_t inputs[5] = {x.node};
    int count = 1, place[4] = {-1, -1, -1, -1};
    GrB_Info info = GrB_SUCCESS;
    for (int k = 0; in && info == GrB_SUCCESS && k < 4; k++) {
        info = k == 2 ? check(mean, variance, momentum, eps) : GrB_SUCCESS;
        if (info == GrB_SUCCESS && !ftb_var_row(&inputs[count], in, given[k], "FtB_batch_norm", names[k]))
            in = NULL;
        else if (info == GrB_SUCCESS && given[k])
            place[k] = count++;
    }
    if (info != GrB_SUCCESS)
        return ftb_var_failed(x.tape, info);
    ftb_nn_node *n =
        in ? ftb_node_new(x.tape, &op, inputs, count, in->nrows, in->ncols, sizeof(batch_norm)) : NULL;
    if (!n)
        return ftb_var_lost(x);
    *(batch_norm *)n->state = (batch_norm){place[0], place[1], place[2], place[3], momentum, eps};
    n->extra_rows = 2;
    n->extra_cols = n->ncols;
    n->extra_type = FTB_FP64;
    return ftb_node_like(n, in);
}
