/* Kernels that normalise the entries of rows, head by head. */
#ifndef FTB_CPU_SOFTMAX_H
#define FTB_CPU_SOFTMAX_H

#include "core/isa.h"
#include "cpu/kernels/heads.h"

/* Entries hold `heads` values; values of one head recur after that many, so that sixteen lanes see the same
 * head again after `period` vectors. */
static inline int64_t ftb_softmax_period(int64_t heads)
{
    int64_t x = FTB_LANES, y = heads;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return heads / x;
}
/* Values of scratch that a call needs. */
static inline int64_t ftb_softmax_scratch(int64_t heads) { return 2 * FTB_LANES * ftb_softmax_period(heads); }

/* Row r's entries are start[r] - start[0] to start[r + 1] - start[0] of the arrays. */

/* out(e, h) = exp(in(e, h)) / sum over the entries of the row; out may be in. All scores of a head -infinity:
 * 0. (softmax.c) */
FTB_CELLS(void, ftb_softmax_rows_f32,
          (void *out, const void *in, const int64_t *start, int64_t nrows, int64_t heads, void *scratch))
FTB_CELLS(void, ftb_softmax_rows_f64,
          (void *out, const void *in, const int64_t *start, int64_t nrows, int64_t heads, void *scratch))
/* most(h) = the greatest of x(e, h) of `count` entries; NaN is passed over, and -infinity where there is no
 * other. */
FTB_CELLS(void, ftb_softmax_greatest_f32,
          (void *most, const void *x, int64_t count, int64_t heads, void *scratch))
FTB_CELLS(void, ftb_softmax_greatest_f64,
          (void *most, const void *x, int64_t count, int64_t heads, void *scratch))
/* out = s (d - sum over the row's entries of s d); out may be s or d. */
FTB_CELLS(void, ftb_softmax_grad_rows_f32,
          (void *out, const void *s, const void *d, const int64_t *start, int64_t nrows, int64_t heads,
           void *scratch))
FTB_CELLS(void, ftb_softmax_grad_rows_f64,
          (void *out, const void *s, const void *d, const int64_t *start, int64_t nrows, int64_t heads,
           void *scratch))

#endif
