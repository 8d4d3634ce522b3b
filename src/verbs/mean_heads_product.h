/* Means over heads: what the verbs `mean_heads` and `mean_heads_grad` compute. */
#ifndef FTB_MEAN_HEADS_PRODUCT_H
#define FTB_MEAN_HEADS_PRODUCT_H

#include "core/core.h"

/* mean_heads: y(i,f) = mean over heads h of x(i,h,f). mean_heads_grad: y(i,h,f) = x(i,f) / heads, or that
 * added. */
typedef struct ftb_mean_heads_product {
    FtB_Context ctx;
    FtB_Type type; /* FP32 or FP64 */
    int64_t nrows, heads, width;
    const void *x;
    int64_t ldx;
    void *y;
    int64_t ldy;
    bool add; /* of the gradient */
} ftb_mean_heads_product;

#endif
