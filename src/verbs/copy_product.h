/* Rows put into rows: what the verb `copy` computes. */
#ifndef FTB_COPY_PRODUCT_H
#define FTB_COPY_PRODUCT_H

#include "core/core.h"

/* y(i,:) = x(i,:), or that added, of FP32 or FP64; without x it is `value`, which is not added. Turned it is
 * y(i,j) = x(j,i), of any type, which is not added either. */
typedef struct ftb_copy_product {
    FtB_Context ctx;
    FtB_Type type;
    int64_t nrows, ncols;
    const void *x;
    int64_t ldx; /* 0: one row for all */
    double value;
    void *y;
    int64_t ldy;
    bool add, turned;
} ftb_copy_product;

#endif
