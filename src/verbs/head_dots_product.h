/* y(i, h) = dot(x(i, h, :), a(h, :)): what the verbs `head_dots` and `head_dots_grad` compute. */
#ifndef FTB_HEAD_DOTS_PRODUCT_H
#define FTB_HEAD_DOTS_PRODUCT_H

#include "core/core.h"

/* All of one type, FP32 or FP64; rows of heads x width values, of y and dy of heads. */
typedef struct ftb_head_dots_product {
    FtB_Context ctx;
    FtB_Type type;
    int64_t nrows, heads, width;
    const void *x, *a; /* a: one row, packed; NULL where a gradient does not read it */
    int64_t ldx;
    void *y; /* head_dots */
    int64_t ldy;
    /* head_dots_grad: dx(i, h, :) = dy(i, h) a(h, :), da(h, :) = sum over i of dy(i, h) x(i, h, :), or these
     * added; NULL: not wanted */
    const void *dy;
    void *dx, *da; /* da: packed */
    int64_t lddy, lddx;
    bool add_dx, add_da;
} ftb_head_dots_product;

#endif
