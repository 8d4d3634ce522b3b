/* Steps of attention kernels (cpu/kernels/attend.h): dot products, dropout, and weighted sums of sources'
 * rows.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/attend.h"

#include "cpu/kernels/dots.h"
#include "cpu/kernels/head.h"

#include <Random123/philox.h>

void FTB_REAL_CELL(ftb_attend_dots)(int64_t heads, const void *x, int64_t xld, int64_t width, double scale,
                                    const int64_t *column, int64_t n, const void *y, void *out)
{
    const ftb_sddmm_job s = {.visits = {.column = column, .column_size = 8},
                             .heads = heads,
                             .width = width,
                             .x = x,
                             .xld = xld,
                             .scale = scale};
    if (width < FTB_LANES)
        dot_visit_narrow(&s, 8, width, 0, n, y, out);
    else if (heads == 1)
        dot_visit_one(&s, 8, width / FTB_LANES, 0, n, y, out, 0);
    else if (heads % 4 == 0 && width == FTB_LANES)
        dot_visit_fours(&s, 8, 1, 0, n, y, out);
    else
        dot_visit_heads(&s, 8, width / FTB_LANES, 0, n, y, out);
}

/* keep(e, h) *= 1 / (1 - probability), or 0: Philox4x32-10, counter (entry, head / 4), a word for each head.
 */
void FTB_REAL_CELL(ftb_attention_drop)(const ftb_attention_job *a, int64_t entry, int64_t count, void *keep_)
{
    real *keep = keep_;
    philox4x32_key_t key = {{(uint32_t)a->seed, (uint32_t)(a->seed >> 32)}};
    for (int64_t e = 0; e < count; e++) {
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
                           const int64_t *head, const real *x, int64_t xld, const int64_t *column, int64_t n)
{
    lanes sum[8];
    for (int64_t t = 0; t < tile; t++)
        sum[t] = lanes_mul(lanes_load(acc + t * FTB_LANES), lanes_all(factor[head[t]]));
    for (int64_t e = 0; e < n; e++) {
        const real *row = x + column[e] * xld, *w = weight + e * heads;
        for (int64_t t = 0; t < tile; t++)
            sum[t] = lanes_add(sum[t], lanes_mul(lanes_load(row + t * FTB_LANES), lanes_all(w[head[t]])));
    }
    for (int64_t t = 0; t < tile; t++)
        lanes_store(acc + t * FTB_LANES, sum[t]);
}

/* The same for heads narrower than the lanes. */
FTB_INLINE void weigh_narrow(real *acc, const real *factor, const real *weight, int64_t heads, int64_t width,
                             const real *x, int64_t xld, const int64_t *column, int64_t n)
{
    for (int64_t h = 0; h < heads; h++)
        for (int64_t f = 0; f < width; f++)
            acc[h * width + f] *= factor[h];
    for (int64_t e = 0; e < n; e++) {
        const real *row = x + column[e] * xld, *w = weight + e * heads;
        for (int64_t h = 0; h < heads; h++)
            for (int64_t f = 0; f < width; f++)
                acc[h * width + f] += w[h] * row[h * width + f];
    }
}

void FTB_REAL_CELL(ftb_attend_weigh)(int64_t heads, void *acc_, const void *factor_, const void *weight_,
                                     const void *x_, int64_t xld, int64_t width, const int64_t *column,
                                     int64_t n)
{
    real *acc = acc_;
    const real *x = x_, *factor = factor_, *weight = weight_;
    int64_t groups = width / FTB_LANES, total = groups * heads, g = 0;
    if (width == FTB_LANES / 2)
        weigh_narrow(acc, factor, weight, heads, FTB_LANES / 2, x, xld, column, n);
    else if (width < FTB_LANES)
        weigh_narrow(acc, factor, weight, heads, width, x, xld, column, n);
    while (g < total) {
        int64_t head[8], tile = total - g >= 8 ? 8 : total - g >= 4 ? 4 : 1, from = g * FTB_LANES;
        for (int64_t t = 0; t < tile; t++)
            head[t] = groups == 1 ? g + t : heads == 1 ? 0 : (g + t) / groups;
        if (tile == 8)
            weigh_tile(8, acc + from, factor, weight, heads, head, x + from, xld, column, n);
        else if (tile == 4)
            weigh_tile(4, acc + from, factor, weight, heads, head, x + from, xld, column, n);
        else
            weigh_tile(1, acc + from, factor, weight, heads, head, x + from, xld, column, n);
        g += tile;
    }
}

/* ---- one head */

static const head_form any; /* columns are of int64_t */

/* Of more values than are summed at once. */
static void head_long(int64_t groups, const real *x, int64_t xld, const int64_t *column, int64_t n,
                      const real *y, real *out)
{
    sixteen s = {.groups = groups};
    for (int k = 0; k < FTB_LANES; k++) {
        s.y[k] = y;
        s.x[k] = attend_source(x, column[k], xld);
    }
    lanes_store(out, sixteen_quads(&s, n));
}

void FTB_REAL_CELL(ftb_attend_head_dots)(int64_t groups, const void *x, int64_t xld, const int64_t *column,
                                         int64_t n, const void *y, void *out)
{
    if (groups <= FTB_LANES_PIECE)
        lanes_store(out, head_products(&any, groups, x, xld, column, y));
    else
        head_long(groups, x, xld, column, n, y, out);
}

/* acc(g) = factor acc(g) + sum over n entries of weight(e) x(j)(g), of any number of sixteens. */
void FTB_REAL_CELL(ftb_attend_head_weigh)(int64_t groups, void *acc_, double factor, const void *weight,
                                          const void *x_, int64_t xld, const int64_t *column, int64_t n)
{
    real *acc = acc_;
    const real *x = x_;
    while (groups > 0) {
        int64_t tile = groups >= 8 ? 8 : groups >= 4 ? 4 : groups >= 2 ? 2 : 1;
        if (tile == 8)
            head_weigh_tile(8, acc, (real)factor, weight, x, xld, &any, column, n);
        else if (tile == 4)
            head_weigh_tile(4, acc, (real)factor, weight, x, xld, &any, column, n);
        else if (tile == 2)
            head_weigh_tile(2, acc, (real)factor, weight, x, xld, &any, column, n);
        else
            head_weigh_tile(1, acc, (real)factor, weight, x, xld, &any, column, n);
        groups -= tile;
        acc += tile * FTB_LANES;
        x += tile * FTB_LANES;
    }
}
