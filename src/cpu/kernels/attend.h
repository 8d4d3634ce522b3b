/* Steps of attention kernels: scores, dropout, and weighted sums of sources' rows. */
#ifndef FTB_CPU_ATTEND_H
#define FTB_CPU_ATTEND_H

#include "cpu/kernels/attention_kernels.h"
#include "cpu/kernels/dots.h"
#include "cpu/kernels/exp.h"

#include <Random123/philox.h>

/* out(e, h) = scale * dot(y(h), x(j, h)) for n entries. Called per visit, and not inlined: the forms of dot
 * products in it take long to compile. */
static void attend_dots(const ftb_attention_job *a, int size, const void *x, int64_t xld, int64_t width,
                        double scale, int64_t at, int64_t n, const real *y, real *out)
{
    const ftb_sddmm_job s = {
        .visits = a->visits, .heads = a->heads, .width = width, .x = x, .xld = xld, .scale = scale};
    if (width < FTB_LANES)
        dot_visit_narrow(&s, size, width, at, n, y, out);
    else if (a->heads == 1)
        dot_visit_one(&s, size, width / FTB_LANES, at, n, y, out, 0);
    else if (a->heads % 4 == 0 && width == FTB_LANES)
        dot_visit_fours(&s, size, 1, at, n, y, out);
    else
        dot_visit_heads(&s, size, width / FTB_LANES, at, n, y, out);
}

/* out(e, h) = leaky_relu(y(h) + x(j, h)), and its derivative if `slope` is not NULL. */
FTB_INLINE void attend_sums(const ftb_attention_job *a, int size, int64_t at, int64_t n, const real *y,
                            real *out, real *slope)
{
    for (int64_t e = 0; e < n; e++) {
        const real *x = (const real *)a->x + lanes_column(a->visits.column, size, at + e) * a->xld;
        for (int64_t h = 0; h < a->heads; h++) {
            real s = x[h] + y[h], d = s > 0 ? 1 : (real)a->slope;
            out[e * a->heads + h] = s * d;
            if (slope)
                slope[e * a->heads + h] = d;
        }
    }
}

/* keep(e, h) *= 1 / (1 - probability), or 0: Philox4x32-10, counter (entry, head / 4), a word for each head.
 */
FTB_INLINE void attend_drop(const ftb_attention_job *a, int64_t entry, int64_t n, real *keep)
{
    philox4x32_key_t key = {{(uint32_t)a->seed, (uint32_t)(a->seed >> 32)}};
    for (int64_t e = 0; e < n; e++) {
        uint64_t id = (uint64_t)(a->entry_of ? a->entry_of[entry + e] : entry + e);
        philox4x32_ctr_t draw = {{0}};
        for (int64_t h = 0; h < a->heads; h++) {
            int64_t head = a->first_head + h;
            if (h == 0 || head % 4 == 0) {
                philox4x32_ctr_t counter = {{(uint32_t)id, (uint32_t)(id >> 32), (uint32_t)(head / 4), 0}};
                draw = philox4x32(counter, key);
            }
            keep[e * a->heads + h] *= draw.v[head % 4] < a->drop ? 0 : (real)a->kept;
        }
    }
}

/* acc[0 .. 16 N) = factor(head) * acc + sum over the entries of weight(e, head) * row(e)[0 .. 16 N), with the
 * head of each sixteen given; N is a constant, so that sums stay in registers. */
FTB_INLINE void weigh_tile(int64_t tile, real *acc, const real *factor, const real *weight, int64_t heads,
                           const int64_t *head, const real *x, int64_t xld, const void *column, int size,
                           int64_t at, int64_t n)
{
    lanes sum[8];
    for (int64_t t = 0; t < tile; t++)
        sum[t] = lanes_mul(lanes_load(acc + t * FTB_LANES), lanes_all(factor[head[t]]));
    for (int64_t e = 0; e < n; e++) {
        const real *row = x + lanes_column(column, size, at + e) * xld, *w = weight + e * heads;
        for (int64_t t = 0; t < tile; t++)
            sum[t] = lanes_add(sum[t], lanes_mul(lanes_load(row + t * FTB_LANES), lanes_all(w[head[t]])));
    }
    for (int64_t t = 0; t < tile; t++)
        lanes_store(acc + t * FTB_LANES, sum[t]);
}

/* The same for heads narrower than the lanes. */
FTB_INLINE void weigh_narrow(real *acc, const real *factor, const real *weight, int64_t heads, int64_t width,
                             const real *x, int64_t xld, const void *column, int size, int64_t at, int64_t n)
{
    for (int64_t h = 0; h < heads; h++)
        for (int64_t f = 0; f < width; f++)
            acc[h * width + f] *= factor[h];
    for (int64_t e = 0; e < n; e++) {
        const real *row = x + lanes_column(column, size, at + e) * xld, *w = weight + e * heads;
        for (int64_t h = 0; h < heads; h++)
            for (int64_t f = 0; f < width; f++)
                acc[h * width + f] += w[h] * row[h * width + f];
    }
}

/* acc = factor acc + sum of weight(e) x(j), head by head; as attend_dots, not inlined. */
static void attend_weigh(const ftb_attention_job *a, int size, real *acc, const real *factor,
                         const real *weight, const void *x_, int64_t xld, int64_t width, int64_t at,
                         int64_t n)
{
    const real *x = x_;
    const void *column = a->visits.column;
    int64_t heads = a->heads, groups = width / FTB_LANES, total = groups * heads, g = 0;
    if (width == FTB_LANES / 2)
        weigh_narrow(acc, factor, weight, heads, FTB_LANES / 2, x, xld, column, size, at, n);
    else if (width < FTB_LANES)
        weigh_narrow(acc, factor, weight, heads, width, x, xld, column, size, at, n);
    while (g < total) {
        int64_t head[8], tile = total - g >= 8 ? 8 : total - g >= 4 ? 4 : 1, from = g * FTB_LANES;
        for (int64_t t = 0; t < tile; t++)
            head[t] = groups == 1 ? g + t : heads == 1 ? 0 : (g + t) / groups;
        if (tile == 8)
            weigh_tile(8, acc + from, factor, weight, heads, head, x + from, xld, column, size, at, n);
        else if (tile == 4)
            weigh_tile(4, acc + from, factor, weight, heads, head, x + from, xld, column, size, at, n);
        else
            weigh_tile(1, acc + from, factor, weight, heads, head, x + from, xld, column, size, at, n);
        g += tile;
    }
}

/* Brings a row that will be visited from memory. */
FTB_INLINE void attend_prefetch(const void *row, int64_t values)
{
    for (int64_t b = 0; b < values * FTB_REAL_SIZE && b < 1024; b += 64)
        __builtin_prefetch((const char *)row + b, 1);
}

#endif
