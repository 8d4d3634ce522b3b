/* Kernels of y(i, h) = dot(x(i, h, :), a(h, :)), rows of heads with a vector for each head. */
#ifndef FTB_CPU_HEAD_DOTS_H
#define FTB_CPU_HEAD_DOTS_H

#include "core/isa.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ftb_head_dots_job {
    int64_t heads, width;
    const void *x; /* rows of heads x width values, ldx apart */
    int64_t ldx;
    const void *a; /* heads x width */
    void *y;       /* rows of heads values, ldy apart: the dot products, or their gradient */
    int64_t ldy;
    void *dx; /* as x */
    int64_t lddx;
    bool add; /* to dx */
} ftb_head_dots_job;

/* y of rows first .. last - 1. (head_dots.c) */
FTB_CELLS(void, ftb_head_dots_f32, (const ftb_head_dots_job *d, int64_t first, int64_t last))
FTB_CELLS(void, ftb_head_dots_f64, (const ftb_head_dots_job *d, int64_t first, int64_t last))
/* dx(i, h, :) = y(i, h) a(h, :). */
FTB_CELLS(void, ftb_head_dots_dx_f32, (const ftb_head_dots_job *d, int64_t first, int64_t last))
FTB_CELLS(void, ftb_head_dots_dx_f64, (const ftb_head_dots_job *d, int64_t first, int64_t last))
/* sums(h, :) += sum over the rows of y(i, h) x(i, h, :); scratch: heads x width values. */
FTB_CELLS(void, ftb_head_dots_da_f32,
          (const ftb_head_dots_job *d, int64_t first, int64_t last, double *sums, void *scratch))
FTB_CELLS(void, ftb_head_dots_da_f64,
          (const ftb_head_dots_job *d, int64_t first, int64_t last, double *sums, void *scratch))

#endif
