/* Verbs of networks as their products' comments say them. */
#include "oracle/ref_nn_verbs.h"

#include <Random123/philox.h>
#include <math.h>

/* x[k] = value, or += where `add`. */
static void give(void *x, FtB_Type type, int64_t k, double value, bool add)
{
    ref_put(x, type, k, value + (add ? ref_get(x, type, k) : 0));
}

GrB_Info ref_copy(const ftb_copy_product *p)
{
    const size_t size = FtB_Type_size(p->type);
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t j = 0; j < p->ncols; j++)
            if (p->turned)
                memcpy((char *)p->y + (size_t)(i * p->ldy + j) * size,
                       (const char *)p->x + (size_t)(j * p->ldx + i) * size, size);
            else
                give(p->y, p->type, i * p->ldy + j, p->x ? ref_get(p->x, p->type, i * p->ldx + j) : p->value,
                     p->add && p->x);
    return GrB_SUCCESS;
}

/* The 16 bits of value number k. */
static uint32_t draw(uint64_t seed, int64_t k)
{
    const uint64_t counter = (uint64_t)(k / 128 * 16 + k % 16);
    philox4x32_ctr_t at = {{(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const uint32_t word = philox4x32(at, key).v[k / 16 % 4];
    return k / 64 % 2 ? word >> 16 : word & 0xffff;
}

GrB_Info ref_dropout(const ftb_dropout_product *p)
{
    const double threshold = rint(p->probability * 65536);
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t j = 0; j < p->ncols; j++) {
            const bool kept = draw(p->seed, i * p->ncols + j) >= threshold;
            const double x = ref_get(p->x, p->type, i * p->ldx + j);
            give(p->y, p->type, i * p->ldy + j, kept ? x / (1 - threshold / 65536) : 0 * x, p->add);
        }
    return GrB_SUCCESS;
}

GrB_Info ref_head_dots(const ftb_head_dots_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t h = 0; h < p->heads; h++) {
            double sum = 0;
            for (int64_t k = 0; k < p->width; k++)
                sum += ref_get(p->x, p->type, i * p->ldx + h * p->width + k) *
                       ref_get(p->a, p->type, h * p->width + k);
            ref_put(p->y, p->type, i * p->ldy + h, sum);
        }
    return GrB_SUCCESS;
}

GrB_Info ref_head_dots_grad(const ftb_head_dots_product *p)
{
    const int64_t columns = p->heads * p->width;
    for (int64_t k = 0; p->da && k < columns; k++) {
        double sum = 0;
        for (int64_t i = 0; i < p->nrows; i++)
            sum +=
                ref_get(p->dy, p->type, i * p->lddy + k / p->width) * ref_get(p->x, p->type, i * p->ldx + k);
        give(p->da, p->type, k, sum, p->add_da);
    }
    for (int64_t i = 0; p->dx && i < p->nrows; i++)
        for (int64_t k = 0; k < columns; k++)
            give(p->dx, p->type, i * p->lddx + k,
                 ref_get(p->dy, p->type, i * p->lddy + k / p->width) * ref_get(p->a, p->type, k), p->add_dx);
    return GrB_SUCCESS;
}

GrB_Info ref_mean_heads(const ftb_mean_heads_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t f = 0; f < p->width; f++) {
            double sum = 0;
            for (int64_t h = 0; h < p->heads; h++)
                sum += ref_get(p->x, p->type, i * p->ldx + h * p->width + f);
            ref_put(p->y, p->type, i * p->ldy + f, sum / (double)p->heads);
        }
    return GrB_SUCCESS;
}

GrB_Info ref_mean_heads_grad(const ftb_mean_heads_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t k = 0; k < p->heads * p->width; k++)
            give(p->y, p->type, i * p->ldy + k,
                 ref_get(p->x, p->type, i * p->ldx + k % p->width) / (double)p->heads, p->add);
    return GrB_SUCCESS;
}

/* ---- normalisation */

static double x_at(const ftb_norm_product *p, int64_t i, int64_t f)
{
    return ref_get(p->x, p->type, i * p->ldx + f);
}
static double gain(const ftb_norm_product *p, int64_t f)
{
    return p->gain ? ref_get(p->gain, p->type, f) : 1;
}
static double shift(const ftb_norm_product *p, int64_t f)
{
    return p->shift ? ref_get(p->shift, p->type, f) : 0;
}

/* Mean and variance of count values, `step` apart in memory. */
static void moments(double *mean, double *variance, const void *x, FtB_Type type, int64_t from, int64_t count,
                    int64_t step)
{
    double sum = 0, squares = 0;
    for (int64_t t = 0; t < count; t++)
        sum += ref_get(x, type, from + t * step);
    *mean = sum / (double)count;
    for (int64_t t = 0; t < count; t++)
        squares += pow(ref_get(x, type, from + t * step) - *mean, 2);
    *variance = squares / (double)count;
}

GrB_Info ref_layer_norm(const ftb_norm_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++) {
        double mean, variance;
        moments(&mean, &variance, p->x, p->type, i * p->ldx, p->ncols, 1);
        const double s = 1 / sqrt(variance + p->eps);
        for (int64_t f = 0; f < p->ncols; f++)
            ref_put(p->y, p->type, i * p->ldy + f, (x_at(p, i, f) - mean) * s * gain(p, f) + shift(p, f));
        if (p->keep) {
            ref_put(p->keep, p->type, 2 * i, mean);
            ref_put(p->keep, p->type, 2 * i + 1, s);
        }
    }
    return GrB_SUCCESS;
}

/* dgain and dshift of column f, whose normalised values are (x - mean(i)) s(i). */
static void give_columns(const ftb_norm_product *p, int64_t f, double along, double sum)
{
    if (p->dgain)
        give(p->dgain, p->type, f, along, p->add_dgain);
    if (p->dshift)
        give(p->dshift, p->type, f, sum, p->add_dshift);
}

GrB_Info ref_layer_norm_grad(const ftb_norm_product *p)
{
    for (int64_t f = 0; f < p->ncols; f++) { /* first: dx may be dy */
        double along = 0, sum = 0;
        for (int64_t i = 0; i < p->nrows; i++) {
            const double dy = ref_get(p->dy, p->type, i * p->lddy + f);
            along += dy * (x_at(p, i, f) - ref_get(p->kept, p->type, 2 * i)) *
                     ref_get(p->kept, p->type, 2 * i + 1);
            sum += dy;
        }
        give_columns(p, f, along, sum);
    }
    for (int64_t i = 0; p->dx && i < p->nrows; i++) {
        const double mean = ref_get(p->kept, p->type, 2 * i), s = ref_get(p->kept, p->type, 2 * i + 1);
        double g = 0, gh = 0;
        for (int64_t f = 0; f < p->ncols; f++) {
            const double d = ref_get(p->dy, p->type, i * p->lddy + f) * gain(p, f) / (double)p->ncols;
            g += d;
            gh += d * (x_at(p, i, f) - mean) * s;
        }
        for (int64_t f = 0; f < p->ncols; f++) {
            const double d = ref_get(p->dy, p->type, i * p->lddy + f) * gain(p, f);
            give(p->dx, p->type, i * p->lddx + f, s * (d - g - (x_at(p, i, f) - mean) * s * gh), p->add_dx);
        }
    }
    return GrB_SUCCESS;
}

static void follow(const ftb_norm_product *p, int64_t f, double mean, double variance)
{
    const double n = (double)p->nrows, rest = 1 - p->momentum;
    ref_put(p->running_mean, p->type, f, rest * ref_get(p->running_mean, p->type, f) + p->momentum * mean);
    ref_put(p->running_variance, p->type, f,
            rest * ref_get(p->running_variance, p->type, f) + p->momentum * variance * n / (n - 1));
}

GrB_Info ref_batch_norm(const ftb_norm_product *p)
{
    for (int64_t f = 0; f < p->ncols; f++) {
        double mean = 0, variance = 0;
        if (!p->running_mean) {
            mean = ref_get(p->mean, p->type, f);
            variance = ref_get(p->variance, p->type, f);
        } else if (p->nrows > 0) {
            moments(&mean, &variance, p->x, p->type, f, p->nrows, p->ldx);
            follow(p, f, mean, variance);
        }
        const double s = 1 / sqrt(variance + p->eps);
        for (int64_t i = 0; i < p->nrows; i++)
            ref_put(p->y, p->type, i * p->ldy + f, (x_at(p, i, f) - mean) * s * gain(p, f) + shift(p, f));
        if (p->keep) {
            ((double *)p->keep)[f] = mean;
            ((double *)p->keep)[p->ncols + f] = s;
        }
    }
    return GrB_SUCCESS;
}

GrB_Info ref_batch_norm_grad(const ftb_norm_product *p)
{
    const double n = (double)p->nrows;
    for (int64_t f = 0; f < p->ncols; f++) {
        const double mean = ((const double *)p->kept)[f], s = ((const double *)p->kept)[p->ncols + f];
        double along = 0, sum = 0;
        for (int64_t i = 0; i < p->nrows; i++) {
            const double dy = ref_get(p->dy, p->type, i * p->lddy + f);
            along += dy * (x_at(p, i, f) - mean) * s;
            sum += dy;
        }
        for (int64_t i = 0; p->dx && i < p->nrows; i++) {
            const double dy = ref_get(p->dy, p->type, i * p->lddy + f);
            give(p->dx, p->type, i * p->lddx + f,
                 gain(p, f) * s * (dy - sum / n - (x_at(p, i, f) - mean) * s * along / n), p->add_dx);
        }
        give_columns(p, f, along, sum);
    }
    return GrB_SUCCESS;
}

/* ---- losses */

static bool counts(const ftb_loss_product *p, int64_t i) { return !p->mask || ((const uint8_t *)p->mask)[i]; }
static double loss_x(const ftb_loss_product *p, int64_t i, int64_t j)
{
    return ref_get(p->x, p->type, i * p->ldx + j);
}
static double loss_t(const ftb_loss_product *p, int64_t i, int64_t j)
{
    return ref_get(p->t, p->targets, i * p->ldt + j);
}

/* log(sum exp x_i) */
static double log_sum(const ftb_loss_product *p, int64_t i)
{
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < p->ncols; j++)
        most = fmax(most, loss_x(p, i, j));
    for (int64_t j = 0; j < p->ncols; j++)
        sum += exp(loss_x(p, i, j) - most);
    return most + log(sum);
}

static double terms(const ftb_loss_product *p)
{
    return (double)p->counted * (p->what == FTB_LOSS_CLASSES ? 1 : (double)p->ncols);
}

GrB_Info ref_loss(const ftb_loss_product *p)
{
    double sum = 0;
    for (int64_t i = 0; i < p->nrows; i++) {
        if (!counts(p, i))
            continue;
        if (p->what == FTB_LOSS_CLASSES)
            sum += log_sum(p, i) - loss_x(p, i, ((const int32_t *)p->labels)[i]);
        for (int64_t j = 0; p->what != FTB_LOSS_CLASSES && j < p->ncols; j++) {
            const double x = loss_x(p, i, j), t = loss_t(p, i, j);
            sum += p->what == FTB_LOSS_BINARY ? log1p(exp(-fabs(x))) + fmax(x, 0) - x * t : (x - t) * (x - t);
        }
    }
    ref_put(p->out, p->type, 0, sum / terms(p));
    return GrB_SUCCESS;
}

/* By x, and by t. */
static void slopes(const ftb_loss_product *p, int64_t i, int64_t j, double *dx, double *dt)
{
    const double x = loss_x(p, i, j), t = p->what == FTB_LOSS_CLASSES ? 0 : loss_t(p, i, j);
    *dt = p->what == FTB_LOSS_BINARY ? -x : 2 * (t - x);
    *dx = p->what == FTB_LOSS_CLASSES  ? exp(x - log_sum(p, i)) - (j == ((const int32_t *)p->labels)[i])
          : p->what == FTB_LOSS_BINARY ? 1 / (1 + exp(-x)) - t
                                       : 2 * (x - t);
}

GrB_Info ref_loss_grad(const ftb_loss_product *p)
{
    const double factor = ref_get(p->dout, p->type, 0) / terms(p);
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t j = 0; j < p->ncols; j++) {
            double dx = 0, dt = 0;
            if (counts(p, i))
                slopes(p, i, j, &dx, &dt);
            if (p->dt)
                give(p->dt, p->targets, i * p->lddt + j, factor * dt, p->add_dt);
            if (p->dx)
                give(p->dx, p->type, i * p->lddx + j, factor * dx, p->add_dx);
        }
    return GrB_SUCCESS;
}

/* ---- optimisers */

static double cut(double g, double clip) { return fmax(-clip, fmin(clip, g)); }

GrB_Info ref_update(const ftb_update_product *p)
{
    const ftb_update *u = &p->how;
    for (int64_t k = 0; k < p->count; k++) {
        double w = ref_get(p->values, p->type, k);
        double d = cut(ref_get(p->gradient, p->type, k), u->clip) * u->scale + u->decay * w;
        if (p->adam) {
            const double m = u->beta1 * ref_get(p->first, p->type, k) + (1 - u->beta1) * d,
                         v = u->beta2 * ref_get(p->second, p->type, k) + (1 - u->beta2) * d * d;
            ref_put(p->first, p->type, k, m);
            ref_put(p->second, p->type, k, v);
            w = w * u->keep - u->rate * m / (sqrt(v) * u->root + u->eps);
        } else {
            if (p->first) {
                const double m = u->beta1 * ref_get(p->first, p->type, k) + d;
                ref_put(p->first, p->type, k, m);
                d = u->nesterov ? d + u->beta1 * m : m;
            }
            w -= u->rate * d;
        }
        ref_put(p->values, p->type, k, w);
    }
    return GrB_SUCCESS;
}

GrB_Info ref_sum_squares(const ftb_sum_squares_product *p)
{
    double sum = 0;
    for (int64_t k = 0; k < p->count; k++)
        sum += pow(cut(ref_get(p->gradient, p->type, k), p->clip), 2);
    *(double *)p->sum = sum;
    return GrB_SUCCESS;
}
