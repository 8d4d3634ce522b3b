/* What the host and the kernels of means over heads (mean_heads.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_MEAN_HEADS_ROWS_H
#define FTB_MEAN_HEADS_ROWS_H

#include "gpu/kernels/row_items.h"

typedef struct ftb_mean_heads_arguments {
    ftb_row_items items; /* an item is `values` of a head's width */
    long long heads, width, ldx, ldy;
    const void *x; /* MEAN: rows of heads x width values; else of width */
    void *y;       /* the other way round */
    double factor; /* 1 / heads */
} ftb_mean_heads_arguments;

/* Every variant, X(type, what, values), called mean_heads_<type>_<what>_<values>: for more than one value, x
 * and y, the distances of their rows and the width are multiples of 16 bytes. */
#define FTB_MEAN_HEADS_WHATS(X, type, values)                                                                \
    X(type, MEAN, values) X(type, SPREAD, values) X(type, ADD, values)
#define FTB_MEAN_HEADS(X)                                                                                    \
    FTB_MEAN_HEADS_WHATS(X, f32, 4)                                                                          \
    FTB_MEAN_HEADS_WHATS(X, f32, 1)                                                                          \
    FTB_MEAN_HEADS_WHATS(X, f64, 2)                                                                          \
    FTB_MEAN_HEADS_WHATS(X, f64, 1)

#endif
