/* Steps of attention kernels: scores, dropout, and weighted sums of sources' rows. Those that take long to
 * compile are functions of their own (attend.c), for a step's entries together; a call of one is nothing
 * beside its work. */
#ifndef FTB_CPU_ATTEND_H
#define FTB_CPU_ATTEND_H

#include "cpu/kernels/attention_kernels.h"
#include "cpu/kernels/exp.h"

/* In all of these, `column` has the source rows of n entries: column(e) for entry e. */
#define ATTEND_STEPS(type)                                                                                   \
    /* out(e, h) = scale * dot(y(h), x(j, h)), of heads of `width`. */                                       \
    FTB_CELLS(void, ftb_attend_dots_##type,                                                                  \
              (int64_t heads, const void *x, int64_t xld, int64_t width, double scale,                       \
               const int64_t *column, int64_t n, const void *y, void *out))                                  \
    /* acc = factor acc + sum over e of weight(e) x(j), head by head. */                                     \
    FTB_CELLS(void, ftb_attend_weigh_##type,                                                                 \
              (int64_t heads, void *acc, const void *factor, const void *weight, const void *x, int64_t xld, \
               int64_t width, const int64_t *column, int64_t n))                                             \
    /* The same of one head of `groups` sixteens; the sixteen entries have columns, n of them a meaning. */  \
    FTB_CELLS(void, ftb_attend_head_dots_##type,                                                             \
              (int64_t groups, const void *x, int64_t xld, const int64_t *column, int64_t n, const void *y,  \
               void *out))                                                                                   \
    FTB_CELLS(void, ftb_attend_head_weigh_##type,                                                            \
              (int64_t groups, void *acc, double factor, const void *weight, const void *x, int64_t xld,     \
               const int64_t *column, int64_t n))
ATTEND_STEPS(f32)
ATTEND_STEPS(f64)

/* The source rows of n entries from `at` on. */
FTB_INLINE void attend_columns(const ftb_visits *v, int64_t at, int64_t n, int64_t *column)
{
    if (v->column_size == 2)
        for (int64_t e = 0; e < n; e++)
            column[e] = lanes_column(v->column, 2, at + e);
    else if (v->column_size == 4)
        for (int64_t e = 0; e < n; e++)
            column[e] = lanes_column(v->column, 4, at + e);
    else
        for (int64_t e = 0; e < n; e++)
            column[e] = lanes_column(v->column, 8, at + e);
}

/* Row `column` of x. Compilers would make sixteen such addresses as vectors, which takes longer than the
 * loads. */
FTB_INLINE const real *attend_source(const real *x, int64_t column, int64_t xld)
{
    int64_t at = column * xld;
    __asm__("" : "+r"(at));
    return x + at;
}

/* out(e, h) = leaky_relu(y(h) + x(j, h)), and its derivative if `slope` is not NULL. */
FTB_INLINE void attend_sums(const ftb_attention_job *a, const int64_t *column, int64_t n, const real *y,
                            real *out, real *slope)
{
    for (int64_t e = 0; e < n; e++) {
        const real *x = (const real *)a->x + column[e] * a->xld;
        for (int64_t h = 0; h < a->heads; h++) {
            real s = x[h] + y[h], d = s > 0 ? 1 : (real)a->slope;
            out[e * a->heads + h] = s * d;
            if (slope)
                slope[e * a->heads + h] = d;
        }
    }
}

/* Brings a row that will be visited from memory. */
FTB_INLINE void attend_prefetch(const void *row, int64_t values)
{
    for (int64_t b = 0; b < values * FTB_REAL_SIZE && b < 1024; b += 64)
        __builtin_prefetch((const char *)row + b, 1);
}

#endif
