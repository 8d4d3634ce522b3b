/* out(e, h) = exp(in(e, h) - max) / sum of exp(in(f, h) - max) over the entries f of a row.
 *
 * A long row's values are read as one array, sixteen at a time, with a maximum and a sum for each lane of a
 * period (ftb_softmax_period), which are then combined head by head in ascending order: any number of heads
 * runs at the same speed. Three passes, of which all but the first find the row in L1 or L2.
 *
 * Short rows are taken together: exponentials of all their values at once, as one array, with a maximum and a
 * sum for each head of a row before and after, entry by entry (2708 rows of 5 entries: of one head 0.12 ms,
 * 0.35 row by row; of eight 0.15 and 0.25). The order of a sum depends on the row's length and the heads
 * alone.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/softmax.h"

#include "cpu/kernels/exp.h"

#define SHORT 16      /* entries: longer rows fill their lanes */
#define TOGETHER 2048 /* values of short rows, which are read three times: they stay in L1 */

/* Short rows from the r-th on that are taken together; 0: it is a long one. */
FTB_INLINE int64_t count_short(const int64_t *start, int64_t r, int64_t nrows, int64_t heads)
{
    int64_t last = r;
    while (last < nrows && start[last + 1] - start[last] <= SHORT &&
           (last == r || (start[last + 1] - start[r]) * heads <= TOGETHER))
        last++;
    return last - r;
}

/* ---- forward */

FTB_INLINE void row_scale(real *out, int64_t values, real *factor, int64_t period)
{
    real *at = factor;
    int64_t x = 0;
    for (; x + FTB_LANES <= values; x += FTB_LANES, at = next(at, factor, period))
        lanes_store(out + x, lanes_mul(lanes_load(out + x), lanes_load(at)));
    for (int64_t l = 0; x + l < values; l++)
        out[x + l] *= at[l];
}

FTB_INLINE void long_row(real *out, const real *in, int64_t count, int64_t heads, real *scratch)
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

FTB_INLINE void short_greatest(real *most, const real *in, int64_t count, int64_t heads)
{
    for (int64_t h = 0; h < heads; h++)
        most[h] = -INFINITY;
    for (int64_t e = 0; e < count; e++)
        for (int64_t h = 0; h < heads; h++)
            most[h] = in[e * heads + h] > most[h] ? in[e * heads + h] : most[h];
}

/* out = in - max of each head; most: room for a row. */
FTB_INLINE void short_less(real *out, const real *in, int64_t count, int64_t heads, real *most)
{
    short_greatest(most, in, count, heads);
    for (int64_t h = 0; h < heads; h++)
        most[h] = most[h] == -INFINITY ? 0 : most[h];
    for (int64_t e = 0; e < count; e++)
        for (int64_t h = 0; h < heads; h++)
            out[e * heads + h] = in[e * heads + h] - most[h];
}

FTB_INLINE void short_divide(real *out, int64_t count, int64_t heads, real *sum)
{
    for (int64_t h = 0; h < heads; h++)
        sum[h] = 0;
    for (int64_t e = 0; e < count; e++)
        for (int64_t h = 0; h < heads; h++)
            sum[h] += out[e * heads + h];
    for (int64_t h = 0; h < heads; h++)
        sum[h] = sum[h] == 0 ? 0 : 1 / sum[h];
    for (int64_t e = 0; e < count; e++)
        for (int64_t h = 0; h < heads; h++)
            out[e * heads + h] *= sum[h];
}

FTB_INLINE void short_grad(real *to, const real *s, const real *d, int64_t count, int64_t heads, real *sum)
{
    for (int64_t h = 0; h < heads; h++)
        sum[h] = 0;
    for (int64_t e = 0; e < count; e++)
        for (int64_t h = 0; h < heads; h++)
            sum[h] += s[e * heads + h] * d[e * heads + h];
    for (int64_t e = 0; e < count; e++)
        for (int64_t h = 0; h < heads; h++)
            to[e * heads + h] = s[e * heads + h] * (d[e * heads + h] - sum[h]);
}

/* The same for heads that make up a vector, which a row keeps in registers. */
#define VECTOR_HEADS(n)                                                                                      \
    typedef real heads##n                                                                                    \
        __attribute__((vector_size(n * FTB_REAL_SIZE), aligned(FTB_REAL_SIZE), may_alias));                  \
    typedef word mask##n __attribute__((vector_size(n * FTB_REAL_SIZE)));                                    \
    FTB_INLINE void short_less_##n(heads##n *out, const heads##n *in, int64_t count)                         \
    {                                                                                                        \
        const heads##n least = (heads##n){0} - (real)INFINITY;                                               \
        heads##n most = least;                                                                               \
        for (int64_t e = 0; e < count; e++) {                                                                \
            const mask##n above = (mask##n)(in[e] > most);                                                   \
            most = (heads##n)(((mask##n)in[e] & above) | ((mask##n)most & ~above));                          \
        }                                                                                                    \
        most = (heads##n)((mask##n)most & (mask##n)(most != least));                                         \
        for (int64_t e = 0; e < count; e++)                                                                  \
            out[e] = in[e] - most;                                                                           \
    }                                                                                                        \
    FTB_INLINE void short_divide_##n(heads##n *out, int64_t count)                                           \
    {                                                                                                        \
        heads##n sum = {0};                                                                                  \
        for (int64_t e = 0; e < count; e++)                                                                  \
            sum += out[e];                                                                                   \
        sum = (heads##n)((mask##n)(1 / sum) & (mask##n)(sum != 0));                                          \
        for (int64_t e = 0; e < count; e++)                                                                  \
            out[e] *= sum;                                                                                   \
    }                                                                                                        \
    FTB_INLINE void short_grad_##n(heads##n *to, const heads##n *s, const heads##n *d, int64_t count)        \
    {                                                                                                        \
        heads##n sum = {0};                                                                                  \
        for (int64_t e = 0; e < count; e++)                                                                  \
            sum += s[e] * d[e];                                                                              \
        for (int64_t e = 0; e < count; e++)                                                                  \
            to[e] = s[e] * (d[e] - sum);                                                                     \
    }
VECTOR_HEADS(4)
VECTOR_HEADS(8)

/* A short row's steps; the state of one head is a register, of other numbers it is in scratch. */
FTB_INLINE void less(real *out, const real *in, int64_t count, int64_t heads, real *scratch)
{
    real one[1];
    if (heads == 8)
        short_less_8((heads8 *)out, (const heads8 *)in, count);
    else if (heads == 4)
        short_less_4((heads4 *)out, (const heads4 *)in, count);
    else if (heads == 1)
        short_less(out, in, count, 1, one);
    else
        short_less(out, in, count, heads, scratch);
}

FTB_INLINE void divide(real *out, int64_t count, int64_t heads, real *scratch)
{
    real one[1];
    if (heads == 8)
        short_divide_8((heads8 *)out, count);
    else if (heads == 4)
        short_divide_4((heads4 *)out, count);
    else if (heads == 1)
        short_divide(out, count, 1, one);
    else
        short_divide(out, count, heads, scratch);
}

FTB_INLINE void short_grad_row(real *to, const real *s, const real *d, int64_t count, int64_t heads,
                               real *scratch)
{
    real one[1];
    if (heads == 8)
        short_grad_8((heads8 *)to, (const heads8 *)s, (const heads8 *)d, count);
    else if (heads == 4)
        short_grad_4((heads4 *)to, (const heads4 *)s, (const heads4 *)d, count);
    else if (heads == 1)
        short_grad(to, s, d, count, 1, one);
    else
        short_grad(to, s, d, count, heads, scratch);
}

FTB_INLINE void short_rows(real *out, const real *in, const int64_t *start, int64_t nrows, int64_t heads,
                           real *scratch)
{
    int64_t values = (start[nrows] - start[0]) * heads, x = 0;
    for (int64_t r = 0; r < nrows; r++) {
        int64_t at = (start[r] - start[0]) * heads;
        less(out + at, in + at, start[r + 1] - start[r], heads, scratch);
    }
    for (; x + FTB_LANES <= values; x += FTB_LANES)
        lanes_store(out + x, lanes_exp(lanes_load(out + x)));
    if (x < values)
        lanes_store_some(out + x, lanes_exp(lanes_load_some(out + x, values - x, 0)), values - x);
    for (int64_t r = 0; r < nrows; r++)
        divide(out + (start[r] - start[0]) * heads, start[r + 1] - start[r], heads, scratch);
}

void FTB_REAL_CELL(ftb_softmax_rows)(void *out_, const void *in_, const int64_t *start, int64_t nrows,
                                     int64_t heads, void *scratch)
{
    for (int64_t r = 0, count; r < nrows; r += count) {
        real *out = (real *)out_ + (start[r] - start[0]) * heads;
        const real *in = (const real *)in_ + (start[r] - start[0]) * heads;
        count = count_short(start, r, nrows, heads);
        if (count > 0) {
            short_rows(out, in, start + r, count, heads, scratch);
        } else {
            count = 1;
            long_row(out, in, start[r + 1] - start[r], heads, scratch);
        }
    }
}

void FTB_REAL_CELL(ftb_softmax_greatest)(void *most, const void *x, int64_t count, int64_t heads,
                                         void *scratch)
{
    if (count <= SHORT) {
        short_greatest(most, x, count, heads);
        return;
    }
    int64_t period = ftb_softmax_period(heads), n = period * FTB_LANES;
    fill(scratch, n, -INFINITY);
    row_greatest(x, count * heads, scratch, period);
    combine(scratch, n, heads, true);
    memcpy(most, scratch, (size_t)heads * sizeof(real));
}

/* ---- gradient */

FTB_INLINE void long_grad_row(real *to, const real *s, const real *d, int64_t count, int64_t heads, real *sum)
{
    int64_t period = ftb_softmax_period(heads), n = period * FTB_LANES, values = count * heads, x = 0;
    real *at = sum;
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

void FTB_REAL_CELL(ftb_softmax_grad_rows)(void *out, const void *s_, const void *d_, const int64_t *start,
                                          int64_t nrows, int64_t heads, void *scratch)
{
    const real *s = s_, *d = d_;
    real *to = out;
    for (int64_t r = 0; r < nrows; r++) {
        int64_t at = (start[r] - start[0]) * heads, count = start[r + 1] - start[r];
        if (count <= SHORT)
            short_grad_row(to + at, s + at, d + at, count, heads, scratch);
        else
            long_grad_row(to + at, s + at, d + at, count, heads, scratch);
    }
}
