/* What the host and the kernels of optimisers' steps (update.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_UPDATE_STEPS_H
#define FTB_UPDATE_STEPS_H

#include "gpu/kernels/column_parts.h"
#include "gpu/kernels/row_items.h"

/* The first of src/verbs/update_product.h's, in its order. */
typedef struct ftb_update_numbers {
    double rate, decay, keep, clip, scale, beta1, beta2, root, eps;
} ftb_update_numbers;

typedef struct ftb_update_arguments {
    ftb_row_items items; /* of one row, `values` each, the last may be fewer */
    long long count;
    const void *gradient;
    void *values, *first, *second; /* SGD has no moments, MOMENTUM and NESTEROV the first */
    ftb_update_numbers how;
    const ftb_update_numbers *how_at; /* where they are, in place of those; else NULL */
} ftb_update_arguments;

typedef struct ftb_sum_squares_arguments {
    ftb_column_parts parts; /* of one column */
    const void *gradient;
    double clip, *sum;
} ftb_sum_squares_arguments;

/* Every variant of a step, X(type, rule, values), called update_<type>_<rule>_<values>: for more than one
 * value all arrays are aligned to 16 bytes. The passes of a sum of squares are X(type),
 * sum_squares_<type>, and sum_squares_join. */
#define FTB_UPDATE_RULES(X, type, values)                                                                    \
    X(type, SGD, values) X(type, MOMENTUM, values) X(type, NESTEROV, values) X(type, ADAM, values)
#define FTB_UPDATE(X)                                                                                        \
    FTB_UPDATE_RULES(X, f32, 4)                                                                              \
    FTB_UPDATE_RULES(X, f32, 1)                                                                              \
    FTB_UPDATE_RULES(X, f64, 2)                                                                              \
    FTB_UPDATE_RULES(X, f64, 1)
#define FTB_SUM_SQUARES(X) X(f32) X(f64)

#endif
