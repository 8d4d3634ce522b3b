/* Attention and its gradient: what the verbs `attention` and `attention_grad` compute. */
#ifndef FTB_ATTENTION_PRODUCT_H
#define FTB_ATTENTION_PRODUCT_H

#include "expr/score.h"
#include "plan/sddmm_plan.h"

/* T(i, h, :) = sum over the entries e = (i, j) of p of w(e, h) v(j, h, :), where w is the softmax by row of
 * the scores of head h, of which dropout keeps some. Rows without entries are 0. */
typedef struct ftb_attention_product {
    FtB_Context ctx;
    ftb_pattern *p;
    FtB_Type type; /* that all is computed in: FP32 or FP64 */
    int64_t heads, value_width;
    /* DOT: scale * dot(x(j, h, :), y(i, h, :)); ADD: leaky_relu(x(j, h) + y(i, h), slope); ANY: the
     * message's, of one head or of all, whose feeds are the host's. */
    ftb_score_kind kind;
    double scale, slope;
    ftb_feed x, y, v; /* of any dtype; of one head: the same for all */
    const ftb_message *message;
    const ftb_program *program;
    FtB_Type score_type, wraps; /* ANY: of the program's results, and what these wrap to; 0: they do not */
    double dropout;             /* probability that an entry is dropped from a head */
    uint64_t seed;              /* of the draws */
    const uint64_t *seed_at;    /* where a device that records (ops/replay.h) finds it instead; else NULL */
    void *out;                  /* row i at out + i * ldo, of `type` */
    int64_t ldo;
    void *lse;    /* rows x heads of `type`: the log of the sum of a row's exponentials; NULL: not wanted */
    bool scratch; /* out is new memory that holds 0: what was begun may be left in it, and rows may be longer
                   */
} ftb_attention_product;

/* Gradients of a sum of T .* d by y (q), x (k) and v, of DOT and ADD. */
typedef struct ftb_attention_grad_product {
    ftb_attention_product of; /* without what it writes */
    ftb_pattern *transpose;   /* of of.p; NULL where only q is wanted */
    const int64_t *from;      /* its entry's number in of.p; NULL: nothing is dropped */
    const void *lse;          /* as attention wrote it */
    const void *t, *d;        /* T and d, of `type` */
    int64_t ldt, ldd;
    void *q, *k, *v; /* of `type`; NULL: not wanted */
    int64_t ldq, ldk, ldv;
} ftb_attention_grad_product;

/* Of draws of 32 bits: those below it drop. */
static inline uint32_t ftb_dropped_below(double probability)
{
    return probability > 0 ? (uint32_t)ftb_min(probability * 0x1p32 + 0.5, 0x1p32 - 1) : 0;
}

/* A plan for each walk: over the entries by row, and by source. */
typedef struct ftb_attention_grad_plan {
    ftb_sddmm_plan rows, sources;
} ftb_attention_grad_plan;

#endif
