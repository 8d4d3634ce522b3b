/* Steps of optimisers: what the verbs `update` and `sum_squares` compute. */
#ifndef FTB_UPDATE_PRODUCT_H
#define FTB_UPDATE_PRODUCT_H

#include "core/core.h"

/* What a step does to each value w with gradient g. */
typedef struct ftb_update {
    double rate;         /* learning rate; of Adam lr / (1 - beta1^t) */
    double decay;        /* g += decay w */
    double keep;         /* w *= keep first: decoupled weight decay */
    double clip;         /* |g| at most; INFINITY: any */
    double scale;        /* of g, after that */
    double beta1, beta2; /* of the moments; SGD: beta1 is momentum */
    double root;         /* 1 / sqrt(1 - beta2^t) */
    double eps;
    bool nesterov;
} ftb_update;

/* All of one type, FP32 or FP64, and packed. */
typedef struct ftb_update_product {
    FtB_Context ctx;
    FtB_Type type;
    int64_t count;
    bool adam; /* else SGD, of which `second` is none, and `first` none without momentum */
    ftb_update how;
    const ftb_update *how_at; /* where a device that records (ops/replay.h) finds the numbers instead, but for
                               * `nesterov`; else NULL */
    const void *gradient;
    void *values, *first, *second;
} ftb_update_product;

/* *sum = the sum of the squares of gradients that are cut to `clip`. */
typedef struct ftb_sum_squares_product {
    FtB_Context ctx;
    FtB_Type type; /* FP32 or FP64 */
    int64_t count;
    double clip;
    const void *gradient;
    void *sum; /* of FP64 */
} ftb_sum_squares_product;

#endif
