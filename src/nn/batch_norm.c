/* Y(:,f) = (X(:,f) - mean) / sqrt(variance + eps) gain + shift, by columns: in training those of the rows at
 * hand, which also move the running ones; else the running ones.
 *
 *     running <- (1 - momentum) running + momentum new; its variance is the unbiased one
 *     dX = gain s (dY - mean of dY - (X - mean) s^2 mean of dY (X - mean)), s = 1 / sqrt(variance + eps)
 *
 * Ioffe and Szegedy, "Batch normalization", ICML 2015. */
#include "nn/norm.h"

#include <math.h>

typedef struct batch_norm {
    int gain, shift, mean, variance; /* inputs; -1: none */
    double momentum, eps;
} batch_norm;

static double at(FtB_Block X, int64_t f) { return ftb_get_real(ftb_block_data(X), X->type, f); }

/* The moments of all rows from those of the parts, into the first one's place: means and sums of squares. */
static void merge_parts(double *moments, int64_t nrows, int64_t ncols)
{
    int64_t before = ftb_parts_cut(nrows, 1);
    for (int64_t p = 1; p < ftb_parts(nrows); p++) {
        const double *part = moments + 2 * ncols * p;
        int64_t count = ftb_parts_cut(nrows, p + 1) - ftb_parts_cut(nrows, p);
        double share = (double)count / (double)(before + count);
        for (int64_t f = 0; f < ncols; f++) {
            double d = part[f] - moments[f];
            moments[f] += d * share;
            moments[ncols + f] += part[ncols + f] + d * d * (double)before * share;
        }
        before += count;
    }
}

/* Means and variances of the batch, which the running ones follow. */
static GrB_Info observe(double **stats, const batch_norm *b, const ftb_norm *d, const ftb_nn_call *c,
                        int64_t nrows, FtB_Type type)
{
    int64_t ncols = d->ncols;
    if (nrows == 1)
        return ftb_fail(GrB_INVALID_VALUE, "x has one row, which has no variance; training needs two");
    GrB_Info info = ftb_norm_by_part(stats, FTB_PICK_REAL(ftb_moments, type), d, nrows, c->ctx);
    if (info != GrB_SUCCESS || nrows == 0)
        return info;
    merge_parts(*stats, nrows, ncols);
    double *variance = *stats + ncols, keep = 1 - b->momentum;
    FtB_Block running[2] = {c->in[b->mean], c->in[b->variance]};
    for (int64_t f = 0; f < ncols; f++) {
        double mean = keep * at(running[0], f) + b->momentum * (*stats)[f],
               unbiased = keep * at(running[1], f) + b->momentum * variance[f] / (double)(nrows - 1);
        size_t place = (size_t)f * FtB_Type_size(type);
        ftb_cast((char *)ftb_block_data(running[0]) + place, type, &mean, FTB_FP64, 1);
        ftb_cast((char *)ftb_block_data(running[1]) + place, type, &unbiased, FTB_FP64, 1);
        variance[f] /= (double)nrows;
    }
    return info;
}

static GrB_Info remember(double **stats, const batch_norm *b, const ftb_nn_call *c, int64_t ncols)
{
    *stats = ftb_new(c->ctx, 2 * ncols, sizeof **stats);
    for (int64_t f = 0; *stats && f < ncols; f++) {
        (*stats)[f] = at(c->in[b->mean], f);
        (*stats)[ncols + f] = at(c->in[b->variance], f);
    }
    return *stats ? GrB_SUCCESS : ftb_nomem();
}

static double gain_of(const batch_norm *b, const ftb_nn_call *c, int64_t f)
{
    return b->gain < 0 ? 1 : at(c->in[b->gain], f);
}

static void set(void *values, FtB_Type type, int64_t f, double value)
{
    ftb_cast((char *)values + (size_t)f * FtB_Type_size(type), type, &value, FTB_FP64, 1);
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const batch_norm *b = n->state;
    int64_t ncols = n->ncols;
    double *stats = NULL, *columns = ftb_new(c->ctx, 3 * ncols, sizeof *columns);
    if (!columns)
        return ftb_nomem();
    ftb_norm d = {.ncols = ncols,
                  .x = ftb_block_data(c->in[0]),
                  .ldx = c->in[0]->ld,
                  .out = ftb_block_data(c->out),
                  .ldout = c->out->ld,
                  .mean = columns,
                  .scale = columns + ncols,
                  .offset = columns + 2 * ncols};
    GrB_Info info =
        c->training ? observe(&stats, b, &d, c, n->nrows, n->type) : remember(&stats, b, c, ncols);
    for (int64_t f = 0; info == GrB_SUCCESS && f < ncols; f++) {
        double scale = 1 / sqrt(stats[ncols + f] + b->eps);
        set(columns, n->type, f, stats[f]);
        set(columns + ncols, n->type, f, scale * gain_of(b, c, f));
        set(columns + 2 * ncols, n->type, f, b->shift < 0 ? 0 : at(c->in[b->shift], f));
        if (c->extra) {
            ((double *)ftb_block_data(c->extra))[f] = stats[f];
            ((double *)ftb_block_data(c->extra))[ncols + f] = scale;
        }
    }
    if (info == GrB_SUCCESS)
        ftb_norm_each(FTB_PICK_REAL(ftb_batch_norm, n->type), &d, n->nrows, c->ctx);
    ftb_delete(columns);
    ftb_delete(stats);
    return info;
}

/* The coefficients of dX by column, from what dY (X - mean) and dY sum to. */
static void fill_columns(double *columns, const ftb_nn_node *n, const ftb_nn_call *c, const double *sums)
{
    const double *scale = (const double *)ftb_block_data(c->extra) + n->ncols;
    int64_t ncols = n->ncols;
    for (int64_t f = 0; f < ncols; f++) {
        double factor = gain_of(n->state, c, f) * scale[f], each = factor / (double)n->nrows;
        set(columns + ncols, n->type, f, factor);
        set(columns + 2 * ncols, n->type, f, each * scale[f] * scale[f] * sums[f]);
        set(columns + 3 * ncols, n->type, f, each * sums[ncols + f]);
    }
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const batch_norm *b = n->state;
    int64_t ncols = n->ncols;
    double *sums = NULL, *columns = ftb_new(c->ctx, 4 * ncols, sizeof *columns);
    const double *stats = ftb_block_data(c->extra);
    if (!columns)
        return ftb_nomem();
    ftb_cast(columns, n->type, stats, FTB_FP64, ncols);
    ftb_norm d = {.ncols = ncols,
                  .x = ftb_block_data(c->in[0]),
                  .ldx = c->in[0]->ld,
                  .dy = ftb_block_data(c->dout),
                  .lddy = c->dout->ld,
                  .add = c->add[0],
                  .mean = columns,
                  .scale = columns + ncols,
                  .slope = columns + 2 * ncols,
                  .offset = columns + 3 * ncols};
    GrB_Info info = ftb_norm_total(&sums, FTB_PICK_REAL(ftb_batch_norm_sums, n->type), &d, n->nrows, c->ctx);
    if (info != GrB_SUCCESS)
        goto done;
    fill_columns(columns, n, c, sums);
    if (b->shift > 0 && c->din[b->shift])
        ftb_parts_put(ftb_block_data(c->din[b->shift]), c->din[b->shift]->type, sums + ncols,
                      c->din[b->shift]->ncols, c->add[b->shift]);
    for (int64_t f = 0; f < ncols; f++)
        sums[f] *= stats[ncols + f];
    if (b->gain > 0 && c->din[b->gain])
        ftb_parts_put(ftb_block_data(c->din[b->gain]), c->din[b->gain]->type, sums, c->din[b->gain]->ncols,
                      c->add[b->gain]);
    if (c->din[0]) {
        d.out = ftb_block_data(c->din[0]);
        d.ldout = c->din[0]->ld;
        ftb_norm_each(FTB_PICK_REAL(ftb_batch_norm_grad, n->type), &d, n->nrows, c->ctx);
    }
done:
    ftb_delete(sums);
    ftb_delete(columns);
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
