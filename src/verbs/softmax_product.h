/* Softmax of entries over rows: what the verb `softmax` computes. */
#ifndef FTB_SOFTMAX_PRODUCT_H
#define FTB_SOFTMAX_PRODUCT_H

#include "core/core.h"

/* out(e, h) = exp(in(e, h)) / sum over the entries of e's row of p; or, with the softmax s and the gradient d
 * of it, its gradient s (d - sum over the row of s d). */
typedef struct ftb_softmax_product {
    FtB_Context ctx;
    ftb_pattern *p;
    const int64_t *from; /* the host's: where in the arrays an entry of p is; NULL: where it is in p */
    int64_t heads;       /* values of an entry */
    FtB_Type type;       /* of all: FP32 or FP64 */
    bool gradient;
    const void *in; /* scores; for the gradient, s */
    const void *d;  /* for the gradient alone */
    void *out;      /* may be in or d */
    /* Of scores alone, without from: */
    void *lse;               /* rows x heads: the log of the sum of a row's exponentials; NULL: not wanted */
    double dropout;          /* probability that an entry of out is dropped from a head, as attention does */
    uint64_t seed;           /* of the draws */
    const uint64_t *seed_at; /* where a device that records (ops/replay.h) finds it instead; else NULL */
    bool interruptible;      /* out is scratch: what was begun may be left */
} ftb_softmax_product;

#endif
