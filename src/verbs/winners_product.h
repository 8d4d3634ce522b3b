/* What winning entries of min and max stand for: what the verbs `winners` and `winners_grad` compute. */
#ifndef FTB_WINNERS_PRODUCT_H
#define FTB_WINNERS_PRODUCT_H

#include "core/core.h"

/* winners: out(i,f) = x(k, f mod xvalues), k being the column of the entry of p that won value f of row i; 0
 * where none did.
 * winners_grad: out(k,f) = the sum of x(i,f) over the rows i of which k won value f, in their order; any(k):
 * whether it won anything. out is written whole. */
typedef struct ftb_winners_product {
    FtB_Context ctx;
    ftb_pattern *p;
    const void *won; /* value f of row i: entry ((int64_t *)won)[i * ldwon + f], or what is none of p's */
    int64_t ldwon, values;
    FtB_Type type; /* of x and out; winners_grad: FP32 or FP64 */
    const void *x;
    int64_t ldx, xvalues; /* xvalues divides values; winners_grad: is values */
    void *out;            /* packed */
    void *any;            /* winners_grad: p->ncols truths */
} ftb_winners_product;

#endif
