/* What the host and the kernels of layer norm and batch norm (layer_norm.cu, batch_norm.cu) agree on. Read by
 * C, nvcc and NVRTC. */
#ifndef FTB_NORM_ROWS_H
#define FTB_NORM_ROWS_H

#include "gpu/kernels/column_parts.h"
#include "gpu/kernels/row_items.h"

/* As verbs/norm_product.h has it. */
typedef struct ftb_norm_arguments {
    ftb_column_parts parts; /* sums over rows */
    ftb_row_items items;    /* batch norm: values of rows */
    long long nrows, ncols;
    const void *x, *gain, *shift;
    void *y;
    double eps, momentum;
    void *stats;   /* layer norm: mean and s of each row, side by side; batch norm, FP64: means, and s */
    double *slope; /* batch norm: unbiased variances; of its gradient, of x - mean, and ncols behind it the
                      rest of dx */
    const void *mean, *variance;
    void *running_mean, *running_variance;
    const void *dy;
    void *dx, *dgain, *dshift;
    long long ldx, ldy, lddy, lddx;
    int add_dx, add_dgain, add_dshift;
} ftb_norm_arguments;

/* X(type): f32, f64. layer_norm_<type>, and of its gradient layer_norm_<type>_grad: a warp a row; _part and
 * _join: sums over rows, as columns.cuh has them. batch_norm_<type>: a thread a value, and _grad likewise;
 * _mean, _variance and _grad_part, each with its _join: as columns.cuh has them; _given and _follow: a thread
 * a column. */
#define FTB_NORM(X) X(f32) X(f64)
enum { FTB_NORM_BLOCK = 128 };

#endif
