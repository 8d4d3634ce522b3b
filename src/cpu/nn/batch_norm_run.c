/* Batch norm: moments of columns from those of parts of the rows, then one pass by column (norm_run.h).
 *
 *     dX = gain s (dY - mean of dY - (X - mean) s^2 mean of dY (X - mean)), s = 1 / sqrt(variance + eps) */
#include "cpu/nn/norm_run.h"
#include "cpu/nn/parts.h"

#include <math.h>

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

static double at(const void *values, FtB_Type type, int64_t f) { return ftb_get_real(values, type, f); }

static void set(void *values, FtB_Type type, int64_t f, double value)
{
    ftb_cast((char *)values + (size_t)f * FtB_Type_size(type), type, &value, FTB_FP64, 1);
}

/* Means and variances of the batch, which the running ones follow. */
static GrB_Info observe(double **stats, const ftb_norm_product *p, const ftb_norm *d)
{
    const int64_t nrows = p->nrows, ncols = p->ncols;
    GrB_Info info = ftb_norm_by_part(stats, FTB_PICK_REAL(ftb_moments, p->type), d, p);
    if (info != GrB_SUCCESS || nrows == 0)
        return info;
    merge_parts(*stats, nrows, ncols);
    double *variance = *stats + ncols, keep = 1 - p->momentum;
    for (int64_t f = 0; f < ncols; f++) {
        double mean = keep * at(p->running_mean, p->type, f) + p->momentum * (*stats)[f],
               unbiased = keep * at(p->running_variance, p->type, f) +
                          p->momentum * variance[f] / (double)(nrows - 1);
        set(p->running_mean, p->type, f, mean);
        set(p->running_variance, p->type, f, unbiased);
        variance[f] /= (double)nrows;
    }
    return info;
}

static GrB_Info remember(double **stats, const ftb_norm_product *p)
{
    *stats = ftb_new(p->ctx, 2 * p->ncols, sizeof **stats);
    for (int64_t f = 0; *stats && f < p->ncols; f++) {
        (*stats)[f] = at(p->mean, p->type, f);
        (*stats)[p->ncols + f] = at(p->variance, p->type, f);
    }
    return *stats ? GrB_SUCCESS : ftb_nomem();
}

static double gain_of(const ftb_norm_product *p, int64_t f) { return p->gain ? at(p->gain, p->type, f) : 1; }

GrB_Info ftb_batch_norm_run(const ftb_norm_product *p)
{
    const int64_t ncols = p->ncols;
    double *stats = NULL, *columns = ftb_new(p->ctx, 3 * ncols, sizeof *columns), *keep = p->keep;
    if (!columns)
        return ftb_nomem();
    const ftb_norm d = {.ncols = ncols,
                        .x = p->x,
                        .ldx = p->ldx,
                        .out = p->y,
                        .ldout = p->ldy,
                        .mean = columns,
                        .scale = columns + ncols,
                        .offset = columns + 2 * ncols};
    GrB_Info info = p->running_mean ? observe(&stats, p, &d) : remember(&stats, p);
    for (int64_t f = 0; info == GrB_SUCCESS && f < ncols; f++) {
        double scale = 1 / sqrt(stats[ncols + f] + p->eps);
        set(columns, p->type, f, stats[f]);
        set(columns + ncols, p->type, f, scale * gain_of(p, f));
        set(columns + 2 * ncols, p->type, f, p->shift ? at(p->shift, p->type, f) : 0);
        if (keep) {
            keep[f] = stats[f];
            keep[ncols + f] = scale;
        }
    }
    if (info == GrB_SUCCESS)
        ftb_norm_each(FTB_PICK_REAL(ftb_batch_norm, p->type), &d, p);
    ftb_delete(columns);
    ftb_delete(stats);
    return info;
}

/* The coefficients of dX by column, from what dY (X - mean) and dY sum to. */
static void fill_columns(double *columns, const ftb_norm_product *p, const double *sums)
{
    const int64_t ncols = p->ncols;
    const double *scale = (const double *)p->kept + ncols;
    for (int64_t f = 0; f < ncols; f++) {
        double factor = gain_of(p, f) * scale[f], each = factor / (double)p->nrows;
        set(columns + ncols, p->type, f, factor);
        set(columns + 2 * ncols, p->type, f, each * scale[f] * scale[f] * sums[f]);
        set(columns + 3 * ncols, p->type, f, each * sums[ncols + f]);
    }
}

GrB_Info ftb_batch_norm_grad_run(const ftb_norm_product *p)
{
    const int64_t ncols = p->ncols;
    const double *kept = p->kept;
    double *sums = NULL, *columns = ftb_new(p->ctx, 4 * ncols, sizeof *columns);
    if (!columns)
        return ftb_nomem();
    ftb_cast(columns, p->type, kept, FTB_FP64, ncols);
    const ftb_norm d = {.ncols = ncols,
                        .x = p->x,
                        .ldx = p->ldx,
                        .dy = p->dy,
                        .lddy = p->lddy,
                        .out = p->dx,
                        .ldout = p->lddx,
                        .add = p->add_dx,
                        .mean = columns,
                        .scale = columns + ncols,
                        .slope = columns + 2 * ncols,
                        .offset = columns + 3 * ncols};
    GrB_Info info = ftb_norm_total(&sums, FTB_PICK_REAL(ftb_batch_norm_sums, p->type), &d, p);
    if (info != GrB_SUCCESS)
        goto done;
    fill_columns(columns, p, sums);
    for (int64_t f = 0; f < ncols; f++)
        sums[f] *= kept[ncols + f];
    ftb_norm_give(p, sums);
    if (p->dx)
        ftb_norm_each(FTB_PICK_REAL(ftb_batch_norm_grad, p->type), &d, p);
done:
    ftb_delete(columns);
    ftb_delete(sums);
    return info;
}
