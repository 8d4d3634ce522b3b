/* Kernels of layer and batch normalisation: passes over some rows, of one dtype throughout. */
#ifndef FTB_CPU_NORM_H
#define FTB_CPU_NORM_H

#include "core/isa.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ftb_norm {
    int64_t ncols;
    const void *x; /* rows, ldx apart */
    int64_t ldx;
    const void *dy; /* gradient: rows, lddy apart */
    int64_t lddy;
    void *out; /* y, or dx: rows, ldout apart; y may be x, dx may be dy */
    int64_t ldout;
    bool add;                 /* dx is added to out */
    const void *gain, *shift; /* ncols values, or NULL */
    void *stats;              /* layer norm: mean and 1 / deviation of each row; NULL: not kept */
    const void *mean;         /* batch norm: ncols values each; see the kernels */
    const void *scale, *slope, *offset;
    double eps;
} ftb_norm;

#define FTB_NORM_ROWS 32 /* that are summed by column before they join sums of FP64 */

/* y = (x - mean) / sqrt(variance + eps) gain + shift, for rows first .. last - 1. */
FTB_CELLS(void, ftb_layer_norm_f32, (const ftb_norm *c, int64_t first, int64_t last))
FTB_CELLS(void, ftb_layer_norm_f64, (const ftb_norm *c, int64_t first, int64_t last))
/* With s = 1 / deviation, h = (x - mean) s and g = dy gain: dx = s (g - mean of g - h mean of g h); sums +=
 * (dy h, dy), 2 x ncols. scratch: 2 x ncols values. */
FTB_CELLS(void, ftb_layer_norm_grad_f32,
          (const ftb_norm *c, int64_t first, int64_t last, double *sums, void *scratch))
FTB_CELLS(void, ftb_layer_norm_grad_f64,
          (const ftb_norm *c, int64_t first, int64_t last, double *sums, void *scratch))
/* moments, 2 x ncols: by column, the mean of the rows and the sum of their squared distances from it.
 * scratch: 2 x ncols values. */
FTB_CELLS(void, ftb_moments_f32,
          (const ftb_norm *c, int64_t first, int64_t last, double *moments, void *scratch))
FTB_CELLS(void, ftb_moments_f64,
          (const ftb_norm *c, int64_t first, int64_t last, double *moments, void *scratch))
/* y = (x - mean) scale + offset, by column. */
FTB_CELLS(void, ftb_batch_norm_f32, (const ftb_norm *c, int64_t first, int64_t last))
FTB_CELLS(void, ftb_batch_norm_f64, (const ftb_norm *c, int64_t first, int64_t last))
/* sums += (dy (x - mean), dy), 2 x ncols. scratch: 2 x ncols values. */
FTB_CELLS(void, ftb_batch_norm_sums_f32,
          (const ftb_norm *c, int64_t first, int64_t last, double *sums, void *scratch))
FTB_CELLS(void, ftb_batch_norm_sums_f64,
          (const ftb_norm *c, int64_t first, int64_t last, double *sums, void *scratch))
/* dx = scale dy - (x - mean) slope - offset, by column. */
FTB_CELLS(void, ftb_batch_norm_grad_f32, (const ftb_norm *c, int64_t first, int64_t last))
FTB_CELLS(void, ftb_batch_norm_grad_f64, (const ftb_norm *c, int64_t first, int64_t last))

#endif
