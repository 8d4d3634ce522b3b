/* Attention of one head: sixteen entries of a row at a time, so that their scores are one vector.
 *
 * Heads do not meet: a walk takes them one after the other (cpu/attention_walk.c). That makes sources 1 /
 * heads as wide, segments so much longer, and with them the visits of rows that have few entries. */
#ifndef FTB_CPU_HEAD_H
#define FTB_CPU_HEAD_H

#include "cpu/kernels/attend.h"
#include "cpu/kernels/sixteen.h"

/* Whether a job's entries can be walked so. */
FTB_INLINE bool head_fits(const ftb_attention_job *a)
{
    return a->heads == 1 && !a->scores && a->value_width % FTB_LANES == 0 &&
           (a->add || a->width % FTB_LANES == 0);
}

/* What the loops over a row's values need to know. `narrow` is a constant: packed heads of sixteen, which
 * have a kernel that knows it. */
typedef struct head_form {
    bool narrow;
    int64_t groups, value_groups; /* sixteens of a source's row and of its values */
    int64_t xld, values_ld;
} head_form;

FTB_INLINE head_form head_form_of(const ftb_attention_job *a)
{
    return (head_form){false, a->width / FTB_LANES, a->value_width / FTB_LANES, a->xld, a->x_values_ld};
}

static const head_form head_narrow = {true, 1, 1, FTB_LANES, FTB_LANES};

FTB_INLINE bool head_is_narrow(const ftb_attention_job *a)
{
    return a->visits.column_size == 2 && !a->add && a->width == FTB_LANES && a->value_width == FTB_LANES &&
           a->xld == FTB_LANES && a->x_values_ld == FTB_LANES;
}

FTB_INLINE lanes head_iota(void)
{
    static const real iota[FTB_LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return lanes_load(iota);
}

/* v(l) for l < n, else `rest`. */
FTB_INLINE lanes head_cut(lanes v, int64_t n, real rest)
{
    lanes iota = head_iota();
    for (int p = 0; p < FTB_PARTS; p++)
        v.at[p] = part_choose((words)(iota.at[p] < (part){0} + (real)n), v.at[p], (part){0} + rest);
    return v;
}

/* The source rows of entries: of type uint16_t where a form is narrow, else int64_t. */
typedef union head_room {
    uint16_t narrow[FTB_LANES];
    int64_t any[2 * FTB_LANES];
} head_room;

FTB_INLINE int64_t head_column(const head_form *form, const void *column, int64_t e)
{
    return form->narrow ? ((const uint16_t *)column)[e] : ((const int64_t *)column)[e];
}

/* Those of sixteen entries from `at` on, of which n have a meaning; `room` may come to hold them, from
 * `first` on. The columns of others are those of the next visits where they are below `limit`, whose sources
 * that brings to L1. */
FTB_INLINE const void *head_columns(const head_form *form, const ftb_visits *v, int64_t at, int64_t n,
                                    int64_t limit, head_room *room, int64_t first)
{
    const bool all = at + FTB_LANES <= limit;
    const uint16_t *narrow = (const uint16_t *)v->column + at;
    int64_t *any = room->any + first;
    if (form->narrow && all)
        return narrow;
    for (int64_t k = 0; form->narrow && k < FTB_LANES; k++)
        room->narrow[k] = narrow[k < n ? k : n - 1];
    if (form->narrow)
        return room->narrow;
    if (all) {
        attend_columns(v, at, FTB_LANES, any);
        return any;
    }
    attend_columns(v, at, n, any);
    for (int64_t k = n; k < FTB_LANES; k++)
        any[k] = any[n - 1];
    return any;
}

/* Those of all entries from `at` on that `room` holds, or none where it need not. */
FTB_INLINE const void *head_begin(const head_form *form, const ftb_visits *v, int64_t at,
                                  const head_room *room)
{
    return form->narrow ? (const void *)((const uint16_t *)v->column + at) : room->any;
}

/* dot(y, x(j)) of sixteen entries. */
FTB_INLINE lanes head_products(const head_form *form, int64_t groups, const void *x, int64_t xld,
                               const void *column, const real *y)
{
    sixteen s = {.groups = groups};
    for (int k = 0; k < FTB_LANES; k++) {
        s.y[k] = y;
        s.x[k] = form->narrow ? (const real *)x + head_column(form, column, k) * xld
                              : attend_source(x, head_column(form, column, k), xld);
    }
    return sixteen_totals(&s);
}

/* y + x(j), one value each. */
FTB_INLINE lanes head_sums(const ftb_attention_job *a, const int64_t *column, int64_t n, const real *y)
{
    real sum[FTB_LANES] = {0};
    for (int64_t k = 0; k < n; k++)
        sum[k] = *y + *attend_source(a->x, column[k], a->xld);
    return lanes_load(sum);
}

/* The derivative of leaky_relu. */
FTB_INLINE lanes head_slope(lanes x, real slope)
{
    for (int p = 0; p < FTB_PARTS; p++)
        x.at[p] = part_choose((words)(x.at[p] > (part){0}), (part){0} + 1, (part){0} + slope);
    return x;
}

FTB_INLINE bool lanes_any_above(lanes x, real limit)
{
#if defined(__AVX512F__) && FTB_REAL_SIZE == 4
    return _mm512_cmp_ps_mask((__m512)x.at[0], _mm512_set1_ps(limit), _CMP_GT_OQ) != 0;
#elif defined(__AVX2__) && FTB_REAL_SIZE == 4
    __m256 all = _mm256_set1_ps(limit);
    return _mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps((__m256)x.at[0], all, _CMP_GT_OQ),
                                           _mm256_cmp_ps((__m256)x.at[1], all, _CMP_GT_OQ))) != 0;
#else
    real at[FTB_LANES];
    int above = 0;
    lanes_store(at, x);
    for (int l = 0; l < FTB_LANES; l++)
        above |= at[l] > limit;
    return above;
#endif
}

/* The greatest of `least` and the lanes; NaN loses to numbers. */
FTB_INLINE real lanes_greatest(lanes x, real least)
{
    real at[FTB_LANES];
    lanes_store(at, lanes_greater(lanes_all(least), x));
    for (int half = FTB_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            at[l] = at[l + half] > at[l] ? at[l + half] : at[l];
    return at[0];
}

FTB_INLINE real lanes_total(lanes x) { return lanes_totals(x, x, x, x)[0]; }

/* acc(g) = factor acc(g) + sum over n entries of weight(e) x(j)(g), for `groups` sixteens: a constant of up
 * to eight. Where they are one or two, four sums side by side hide the latency of additions. */
FTB_INLINE void head_weigh_tile(int64_t groups, real *acc, real factor, const real *weight, const real *x,
                                int64_t xld, const head_form *form, const void *column, int64_t n)
{
    const int64_t ways = groups <= 2 ? 4 : 1;
    lanes sum[8];
    for (int64_t g = 0; g < groups; g++)
        sum[g] = lanes_mul(lanes_load(acc + g * FTB_LANES), lanes_all(factor));
    for (int64_t t = groups; t < groups * ways; t++)
        sum[t] = lanes_all(0);
    int64_t e = 0;
    for (; e + ways <= n; e += ways)
        for (int64_t w = 0; w < ways; w++) {
            const real *row = x + head_column(form, column, e + w) * xld;
            lanes all = lanes_all(weight[e + w]);
            for (int64_t g = 0; g < groups; g++)
                sum[w * groups + g] =
                    lanes_add(sum[w * groups + g], lanes_mul(lanes_load(row + g * FTB_LANES), all));
        }
    for (; e < n; e++) {
        const real *row = x + head_column(form, column, e) * xld;
        lanes all = lanes_all(weight[e]);
        for (int64_t g = 0; g < groups; g++)
            sum[g] = lanes_add(sum[g], lanes_mul(lanes_load(row + g * FTB_LANES), all));
    }
    for (int64_t g = 0; g < groups; g++) {
        lanes all = sum[g];
        if (ways == 4)
            all = lanes_add(lanes_add(all, sum[groups + g]),
                            lanes_add(sum[2 * groups + g], sum[3 * groups + g]));
        lanes_store(acc + g * FTB_LANES, all);
    }
}

/* Both, of a form: what is of more than sixteen values is called (cpu/kernels/attend.c). */
FTB_INLINE lanes head_dots(const head_form *form, int64_t groups, const void *x, int64_t xld,
                           const void *column, int64_t n, const real *y)
{
    real all[FTB_LANES];
    if (form->narrow)
        return head_products(form, 1, x, FTB_LANES, column, y);
    if (groups == 1)
        return head_products(form, 1, x, xld, column, y);
    FTB_REAL_CELL(ftb_attend_head_dots)(groups, x, xld, column, n, y, all);
    return lanes_load(all);
}

FTB_INLINE void head_weigh(const head_form *form, int64_t groups, real *acc, real factor, const real *weight,
                           const void *x, int64_t xld, const void *column, int64_t n)
{
    if (form->narrow)
        head_weigh_tile(1, acc, factor, weight, x, FTB_LANES, form, column, n);
    else if (groups == 1)
        head_weigh_tile(1, acc, factor, weight, x, xld, form, column, n);
    else
        FTB_REAL_CELL(ftb_attend_head_weigh)(groups, acc, (double)factor, weight, x, xld, column, n);
}

#endif
