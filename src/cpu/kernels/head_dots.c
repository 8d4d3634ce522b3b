/* y(i, h) = dot(x(i, h, :), a(h, :)) and its gradients. Heads of few values are the rule, so that a row holds
 * many: eight heads of 8 are one step. Sums over rows are kept in the rows' dtype for ROWS rows and then join
 * sums of FP64.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/head_dots.h"

#include "cpu/kernels/lanes.h"

#define ROWS 32

typedef real eights __attribute__((vector_size(8 * FTB_REAL_SIZE), aligned(FTB_REAL_SIZE), may_alias));

/* Sixteen sums side by side, and what is left over behind them. */
FTB_INLINE real dot(const real *x, const real *a, int64_t width)
{
    real total = 0;
    int64_t f = 0;
    if (width >= FTB_LANES) {
        lanes sum = lanes_mul(lanes_load(x), lanes_load(a));
        for (f = FTB_LANES; f + FTB_LANES <= width; f += FTB_LANES)
            sum = lanes_add(sum, lanes_mul(lanes_load(x + f), lanes_load(a + f)));
        total = lanes_totals(sum, sum, sum, sum)[0];
    }
    for (; f < width; f++)
        total += x[f] * a[f];
    return total;
}

void FTB_REAL_CELL(ftb_head_dots)(const ftb_head_dots_job *d, int64_t first, int64_t last)
{
    const int64_t heads = d->heads, width = d->width;
    const real *a = d->a;
    for (int64_t i = first; i < last; i++) {
        const real *x = (const real *)d->x + i * d->ldx;
        real *y = (real *)d->y + i * d->ldy;
        int64_t h = 0;
        for (; width == 8 && h + 8 <= heads; h += 8)
            lanes_dots_of_8(y + h, x + h * 8, a + h * 8);
        for (; h < heads; h++)
            y[h] = dot(x + h * width, a + h * width, width);
    }
}

/* to = factor x, or that added. */
FTB_INLINE void multiply(real *to, bool add, real factor, const real *x, int64_t width)
{
    int64_t f = 0;
    if (width == 8) {
        eights sum = factor * *(const eights *)x;
        if (add)
            sum += *(const eights *)to;
        *(eights *)to = sum;
        return;
    }
    for (; f + FTB_LANES <= width; f += FTB_LANES) {
        lanes sum = lanes_mul(lanes_all(factor), lanes_load(x + f));
        lanes_store(to + f, add ? lanes_add(lanes_load(to + f), sum) : sum);
    }
    for (; f < width; f++)
        to[f] = (add ? to[f] : 0) + factor * x[f];
}

void FTB_REAL_CELL(ftb_head_dots_dx)(const ftb_head_dots_job *d, int64_t first, int64_t last)
{
    const int64_t heads = d->heads, width = d->width;
    const bool add = d->add;
    for (int64_t i = first; i < last; i++) {
        const real *a = d->a, *y = (const real *)d->y + i * d->ldy;
        real *dx = (real *)d->dx + i * d->lddx;
        for (int64_t h = 0; h < heads; h++)
            multiply(dx + h * width, add, y[h], a + h * width, width);
    }
}

void FTB_REAL_CELL(ftb_head_dots_da)(const ftb_head_dots_job *d, int64_t first, int64_t last, double *total,
                                     void *scratch)
{
    const int64_t heads = d->heads, width = d->width;
    real *sum = scratch;
    for (int64_t i = first; i < last; i++) {
        const real *x = (const real *)d->x + i * d->ldx, *y = (const real *)d->y + i * d->ldy;
        for (int64_t h = 0; h < heads; h++)
            multiply(sum + h * width, (i - first) % ROWS > 0, y[h], x + h * width, width);
        for (int64_t k = 0; ((i - first) % ROWS == ROWS - 1 || i + 1 == last) && k < heads * width; k++)
            total[k] += (double)sum[k];
    }
}
