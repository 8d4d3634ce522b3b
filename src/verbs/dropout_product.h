/* Dropout: what the verb `dropout` computes. */
#ifndef FTB_DROPOUT_PRODUCT_H
#define FTB_DROPOUT_PRODUCT_H

#include "core/core.h"

/* y = x .* mask / (1 - p), or that added, p being `probability` in steps of 2^-16: which of the values,
 * numbered through row by row, are kept is drawn from the seed and their numbers alone
 * (cpu/kernels/dropout.h). */
typedef struct ftb_dropout_product {
    FtB_Context ctx;
    FtB_Type type; /* FP32 or FP64 */
    int64_t nrows, ncols;
    const void *x;
    int64_t ldx;
    void *y; /* may be x */
    int64_t ldy;
    uint64_t seed;
    const uint64_t *seed_at; /* where a device that records (ops/replay.h) finds it instead; else NULL */
    double probability;
    bool add;
} ftb_dropout_product;

#endif
