/* Steps over the values of one row (rows.h), left to the compiler's vectoriser.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/rows.h"

#include "cpu/kernels/lanes.h"

void FTB_REAL_CELL(ftb_row_add)(void *restrict to, const void *restrict from, int64_t count)
{
    real *restrict y = to;
    const real *restrict x = from;
    for (int64_t f = 0; f < count; f++)
        y[f] += x[f];
}

void FTB_REAL_CELL(ftb_row_relu)(void *at, int64_t count)
{
    real *y = at;
    for (int64_t f = 0; f < count; f++)
        y[f] = y[f] <= 0 ? 0 : y[f];
}

void FTB_REAL_CELL(ftb_row_scale)(void *to, const void *from, const float *factor, int64_t count, bool add)
{
    real *y = to;
    const real *x = from;
    if (add)
        for (int64_t f = 0; f < count; f++)
            y[f] += x[f] * (real)factor[f];
    else
        for (int64_t f = 0; f < count; f++)
            y[f] = x[f] * (real)factor[f];
}

void FTB_REAL_CELL(ftb_heads_sum)(void *restrict to, const void *restrict from, int64_t heads, int64_t width,
                                  double factor)
{
    real *restrict y = to;
    const real *restrict x = from;
    memcpy(y, x, (size_t)width * sizeof *y);
    for (int64_t h = 1; h < heads; h++)
        for (int64_t f = 0; f < width; f++)
            y[f] += x[h * width + f];
    for (int64_t f = 0; f < width; f++)
        y[f] *= (real)factor;
}

void FTB_REAL_CELL(ftb_heads_spread)(void *restrict to, const void *restrict from, int64_t heads,
                                     int64_t width, double factor, bool add)
{
    real *restrict x = to;
    const real *restrict y = from;
    for (int64_t h = 0; h < heads; h++, x += width)
        for (int64_t f = 0; f < width; f++)
            x[f] = (real)factor * y[f] + (add ? x[f] : 0);
}
