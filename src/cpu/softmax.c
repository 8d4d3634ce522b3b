/* out(e, h) = exp(in(e, h) - max) / sum of exp(in(f, h) - max) over the entries f of a row.
 *
 * The row's values are read as one array, sixteen at a time, with a maximum and a sum for each lane of a
 * period (ftb_softmax_period), which are then combined head by head in ascending order: any number of heads
 * runs at the same speed, and the order of a sum depends on the row's length and the heads alone. Three
 * passes, of which all but the first find the row in L1 or L2. */
#include "cpu/softmax.h"

#include "cpu/exp.h"

FTB_INLINE void row_scale(real *out, int64_t values, real *factor, int64_t period)
{
    real *at = factor;
    int64_t x = 0;
    for (; x + FTB_LANES <= values; x += FTB_LANES, at = next(at, factor, period))
        lanes_store(out + x, lanes_mul(lanes_load(out + x), lanes_load(at)));
    for (int64_t l = 0; x + l < values; l++)
        out[x + l] *= at[l];
}

void FTB_REAL_CELL(ftb_softmax_row)(void *out, const void *in, int64_t count, int64_t heads, void *scratch)
{
    int64_t period = ftb_softmax_period(heads), n = period * FTB_LANES, values = count * heads;
    real *most = scratch, *sum = most + n;
    fill(most, n, -INFINITY);
    fill(sum, n, 0);
    row_greatest(in, values, most, period);
    combine(most, n, heads, true);
    for (int64_t l = 0; l < n; l++) /* where all are -infinity, so is every difference */
        most[l] = most[l] == -INFINITY ? 0 : most[l];
    row_exp(out, in, values, most, sum, period);
    combine(sum, n, heads, false);
    for (int64_t l = 0; l < n; l++)
        sum[l] = sum[l] == 0 ? 0 : 1 / sum[l];
    row_scale(out, values, sum, period);
}

void FTB_REAL_CELL(ftb_softmax_grad_row)(void *out, const void *s_, const void *d_, int64_t count,
                                         int64_t heads, void *scratch)
{
    int64_t period = ftb_softmax_period(heads), n = period * FTB_LANES, values = count * heads, x = 0;
    const real *s = s_, *d = d_;
    real *to = out, *sum = scratch, *at = sum;
    fill(sum, n, 0);
    for (; x + FTB_LANES <= values; x += FTB_LANES, at = next(at, sum, period))
        lanes_store(at, lanes_add(lanes_load(at), lanes_mul(lanes_load(s + x), lanes_load(d + x))));
    for (int64_t l = 0; x + l < values; l++)
        at[l] += s[x + l] * d[x + l];
    combine(sum, n, heads, false);
    at = sum;
    for (x = 0; x + FTB_LANES <= values; x += FTB_LANES, at = next(at, sum, period))
        lanes_store(to + x, lanes_mul(lanes_load(s + x), lanes_subtract(lanes_load(d + x), lanes_load(at))));
    for (int64_t l = 0; x + l < values; l++)
        to[x + l] = s[x + l] * (d[x + l] - at[l]);
}
