/* Normalisation: what the verbs `layer_norm`, `batch_norm` and their gradients compute. */
#ifndef FTB_NORM_PRODUCT_H
#define FTB_NORM_PRODUCT_H

#include "core/core.h"

/* y = (x - mean) s gain + shift, s = 1 / sqrt(variance + eps), of rows of ncols values; moments are those of
 * each row (layer norm) or of each column (batch norm). All is of one type, FP32 or FP64, where it does not
 * say otherwise; what has one row is packed. */
typedef struct ftb_norm_product {
    FtB_Context ctx;
    FtB_Type type;
    int64_t nrows, ncols;
    const void *x;
    int64_t ldx;
    const void *gain, *shift; /* one row; NULL: none */
    double eps;
    void *y; /* may be x */
    int64_t ldy;
    /* What a gradient needs again. Layer norm: mean and s of each row, side by side. Batch norm, FP64: means
     * and s, two rows. keep: written by the norms, unless NULL; kept: read by the gradients. */
    void *keep;
    const void *kept;
    /* Batch norm. Without running_*, moments are those given. With it they are those of x, of two rows or
     * more or of none, which the running ones follow: r = (1 - momentum) r + momentum m, of the unbiased
     * variance. */
    const void *mean, *variance;
    void *running_mean, *running_variance; /* both, or NULL */
    double momentum;
    /* The gradients; NULL: not wanted. add_*: added to what is there. */
    const void *dy;
    void *dx; /* may be dy, unless added */
    void *dgain, *dshift;
    int64_t lddy, lddx;
    bool add_dx, add_dgain, add_dshift;
} ftb_norm_product;

#endif
