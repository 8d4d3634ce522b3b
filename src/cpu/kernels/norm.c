/* Rows and columns brought to mean 0 and variance 1, and the gradients (norm_kernels.h).
 *
 * A row is summed in sixteen lanes, then in halves, so that bits are the same for every instruction set; its
 * second and third visit find it in L1. Sums over rows are kept in the rows' dtype for FTB_NORM_ROWS rows and
 * then join sums of FP64: as fast as the former, as exact as the latter. Moments of pieces are merged by
 * Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/norm_kernels.h"

#include "cpu/kernels/lanes.h"

#include <math.h>

FTB_INLINE lanes minus(lanes x, lanes y)
{
    for (int p = 0; p < FTB_PARTS; p++)
        x.at[p] -= y.at[p];
    return x;
}

/* The lanes' sum, and what is left of a row behind them: `rest` values. */
FTB_INLINE real total(lanes sum, const real *rest, int64_t count)
{
    real at[FTB_LANES];
    lanes_store(at, sum);
    for (int64_t l = 0; l < count; l++)
        at[l] += rest[l];
    for (int half = FTB_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            at[l] += at[l + half];
    return at[0];
}

FTB_INLINE real row_sum(const real *x, int64_t n)
{
    lanes sum = lanes_all(0);
    int64_t f = 0;
    for (; f + FTB_LANES <= n; f += FTB_LANES)
        sum = lanes_add(sum, lanes_load(x + f));
    return total(sum, x + f, n - f);
}

/* of (x - mean)^2 */
FTB_INLINE real row_squares(const real *x, real mean, int64_t n)
{
    lanes sum = lanes_all(0), middle = lanes_all(mean);
    real rest[FTB_LANES];
    int64_t f = 0;
    for (; f + FTB_LANES <= n; f += FTB_LANES) {
        lanes d = minus(lanes_load(x + f), middle);
        sum = lanes_add(sum, lanes_mul(d, d));
    }
    for (int64_t l = 0; f + l < n; l++)
        rest[l] = (x[f + l] - mean) * (x[f + l] - mean);
    return total(sum, rest, n - f);
}

FTB_INLINE void row_normalise(real *y, const real *x, real mean, real scale, const real *gain,
                              const real *shift, int64_t n)
{
    const lanes middle = lanes_all(mean), factor = lanes_all(scale);
    int64_t f = 0;
    for (; f + FTB_LANES <= n; f += FTB_LANES) {
        lanes v = lanes_mul(minus(lanes_load(x + f), middle), factor);
        v = gain ? lanes_mul(v, lanes_load(gain + f)) : v;
        lanes_store(y + f, shift ? lanes_add(v, lanes_load(shift + f)) : v);
    }
    for (; f < n; f++) {
        real v = (x[f] - mean) * scale;
        v = gain ? v * gain[f] : v;
        y[f] = shift ? v + shift[f] : v;
    }
}

void FTB_REAL_CELL(ftb_layer_norm)(const ftb_norm *c, int64_t first, int64_t last)
{
    int64_t n = c->ncols;
    for (int64_t i = first; i < last; i++) {
        const real *x = (const real *)c->x + i * c->ldx;
        real mean = row_sum(x, n) / (real)n;
        real scale = (real)(1 / sqrt((double)row_squares(x, mean, n) / (double)n + c->eps));
        if (c->stats) {
            ((real *)c->stats)[2 * i] = mean;
            ((real *)c->stats)[2 * i + 1] = scale;
        }
        row_normalise((real *)c->out + i * c->ldout, x, mean, scale, c->gain, c->shift, n);
    }
}

/* ---- gradient of layer norm */

typedef struct row_grad { /* what a row's gradient needs */
    const real *x, *dy, *gain;
    real mean, scale;
    int64_t n;
} row_grad;

/* Sums over the row of g and g h; (dy h, dy) join `sums`. */
FTB_INLINE void row_grad_sums(const row_grad *r, real *restrict sums, real *g_sum, real *gh_sum)
{
    const lanes middle = lanes_all(r->mean), factor = lanes_all(r->scale);
    lanes sg = lanes_all(0), sgh = sg;
    real rest[FTB_LANES], rest_h[FTB_LANES];
    int64_t f = 0, n = r->n;
    for (; f + FTB_LANES <= n; f += FTB_LANES) {
        lanes h = lanes_mul(minus(lanes_load(r->x + f), middle), factor), g = lanes_load(r->dy + f),
              gh = lanes_mul(g, h);
        lanes_store(sums + f, lanes_add(lanes_load(sums + f), gh));
        lanes_store(sums + n + f, lanes_add(lanes_load(sums + n + f), g));
        lanes gain = r->gain ? lanes_load(r->gain + f) : lanes_all(1);
        sg = lanes_add(sg, lanes_mul(g, gain));
        sgh = lanes_add(sgh, lanes_mul(gh, gain));
    }
    for (int64_t l = 0; f + l < n; l++) {
        real g = r->dy[f + l], gh = g * ((r->x[f + l] - r->mean) * r->scale),
             gain = r->gain ? r->gain[f + l] : 1;
        sums[f + l] += gh;
        sums[n + f + l] += g;
        rest[l] = g * gain;
        rest_h[l] = gh * gain;
    }
    *g_sum = total(sg, rest, n - f);
    *gh_sum = total(sgh, rest_h, n - f);
}

/* dx = scale (g - a - h b), or that added */
FTB_INLINE void row_grad_write(const row_grad *r, real *dx, real a, real b, bool add)
{
    const lanes middle = lanes_all(r->mean), factor = lanes_all(r->scale), la = lanes_all(a),
                lb = lanes_all(b);
    int64_t f = 0, n = r->n;
    for (; f + FTB_LANES <= n; f += FTB_LANES) {
        lanes h = lanes_mul(minus(lanes_load(r->x + f), middle), factor), g = lanes_load(r->dy + f);
        g = r->gain ? lanes_mul(g, lanes_load(r->gain + f)) : g;
        lanes v = lanes_mul(minus(minus(g, la), lanes_mul(h, lb)), factor);
        lanes_store(dx + f, add ? lanes_add(lanes_load(dx + f), v) : v);
    }
    for (; f < n; f++) {
        real h = (r->x[f] - r->mean) * r->scale, g = r->gain ? r->dy[f] * r->gain[f] : r->dy[f];
        real v = (g - a - h * b) * r->scale;
        dx[f] = add ? dx[f] + v : v;
    }
}

/* Sums in the rows' dtype join those of FP64, and begin anew. */
FTB_INLINE void flush(double *restrict sums, real *restrict some, int64_t count)
{
    for (int64_t f = 0; f < count; f++) {
        sums[f] += (double)some[f];
        some[f] = 0;
    }
}

void FTB_REAL_CELL(ftb_layer_norm_grad)(const ftb_norm *c, int64_t first, int64_t last, double *sums,
                                        void *scratch)
{
    int64_t n = c->ncols;
    real *some = scratch, g_sum, gh_sum;
    memset(some, 0, (size_t)(2 * n) * sizeof *some);
    for (int64_t i = first; i < last; i++) {
        const real *stats = (const real *)c->stats + 2 * i;
        const row_grad r = {(const real *)c->x + i * c->ldx,
                            (const real *)c->dy + i * c->lddy,
                            c->gain,
                            stats[0],
                            stats[1],
                            n};
        row_grad_sums(&r, some, &g_sum, &gh_sum);
        if (c->out)
            row_grad_write(&r, (real *)c->out + i * c->ldout, g_sum / (real)n, gh_sum / (real)n, c->add);
        if ((i - first + 1) % FTB_NORM_ROWS == 0)
            flush(sums, some, 2 * n);
    }
    flush(sums, some, 2 * n);
}

/* ---- columns */

/* The moments of `count` rows join those of `before` others. */
static void merge(double *restrict moments, const real *restrict mean, const real *restrict squares,
                  int64_t before, int64_t count, int64_t n)
{
    double share = (double)count / (double)(before + count), weight = (double)before * share;
    for (int64_t f = 0; f < n; f++) {
        double d = (double)mean[f] - moments[f];
        moments[f] += d * share;
        moments[n + f] += (double)squares[f] + d * d * weight;
    }
}

void FTB_REAL_CELL(ftb_moments)(const ftb_norm *c, int64_t first, int64_t last, double *moments,
                                void *scratch)
{
    int64_t n = c->ncols;
    real *restrict mean = scratch, *restrict squares = mean + n;
    memset(moments, 0, (size_t)(2 * n) * sizeof *moments);
    for (int64_t begin = first; begin < last; begin += FTB_NORM_ROWS) {
        int64_t end = ftb_min(begin + FTB_NORM_ROWS, last);
        memset(mean, 0, (size_t)(2 * n) * sizeof *mean);
        for (int64_t i = begin; i < end; i++) {
            const real *restrict x = (const real *)c->x + i * c->ldx;
            for (int64_t f = 0; f < n; f++)
                mean[f] += x[f];
        }
        for (int64_t f = 0; f < n; f++)
            mean[f] /= (real)(end - begin);
        for (int64_t i = begin; i < end; i++) {
            const real *restrict x = (const real *)c->x + i * c->ldx;
            for (int64_t f = 0; f < n; f++)
                squares[f] += (x[f] - mean[f]) * (x[f] - mean[f]);
        }
        merge(moments, mean, squares, begin - first, end - begin, n);
    }
}

void FTB_REAL_CELL(ftb_batch_norm)(const ftb_norm *c, int64_t first, int64_t last)
{
    const real *mean = c->mean, *scale = c->scale, *offset = c->offset;
    int64_t n = c->ncols;
    for (int64_t i = first; i < last; i++) {
        const real *x = (const real *)c->x + i * c->ldx;
        real *y = (real *)c->out + i * c->ldout;
        int64_t f = 0;
        for (; f + FTB_LANES <= n; f += FTB_LANES)
            lanes_store(y + f, lanes_add(lanes_mul(minus(lanes_load(x + f), lanes_load(mean + f)),
                                                   lanes_load(scale + f)),
                                         lanes_load(offset + f)));
        for (; f < n; f++)
            y[f] = (x[f] - mean[f]) * scale[f] + offset[f];
    }
}

void FTB_REAL_CELL(ftb_batch_norm_sums)(const ftb_norm *c, int64_t first, int64_t last, double *sums,
                                        void *scratch)
{
    int64_t n = c->ncols;
    const real *restrict mean = c->mean;
    real *restrict products = scratch, *restrict plain = products + n;
    memset(products, 0, (size_t)(2 * n) * sizeof *products);
    for (int64_t i = first; i < last; i++) {
        const real *restrict x = (const real *)c->x + i * c->ldx, *restrict dy =
                                                                      (const real *)c->dy + i * c->lddy;
        for (int64_t f = 0; f < n; f++) {
            products[f] += dy[f] * (x[f] - mean[f]);
            plain[f] += dy[f];
        }
        if ((i - first + 1) % FTB_NORM_ROWS == 0)
            flush(sums, scratch, 2 * n);
    }
    flush(sums, scratch, 2 * n);
}

void FTB_REAL_CELL(ftb_batch_norm_grad)(const ftb_norm *c, int64_t first, int64_t last)
{
    const real *mean = c->mean, *scale = c->scale, *slope = c->slope, *offset = c->offset;
    int64_t n = c->ncols;
    for (int64_t i = first; i < last; i++) {
        const real *x = (const real *)c->x + i * c->ldx, *dy = (const real *)c->dy + i * c->lddy;
        real *dx = (real *)c->out + i * c->ldout;
        int64_t f = 0;
        for (; f + FTB_LANES <= n; f += FTB_LANES) {
            lanes d = lanes_mul(minus(lanes_load(x + f), lanes_load(mean + f)), lanes_load(slope + f));
            lanes v =
                minus(minus(lanes_mul(lanes_load(dy + f), lanes_load(scale + f)), d), lanes_load(offset + f));
            lanes_store(dx + f, c->add ? lanes_add(lanes_load(dx + f), v) : v);
        }
        for (; f < n; f++) {
            real v = dy[f] * scale[f] - (x[f] - mean[f]) * slope[f] - offset[f];
            dx[f] = c->add ? dx[f] + v : v;
        }
    }
}
