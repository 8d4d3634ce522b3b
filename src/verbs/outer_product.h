/* Sums of outer products: what the verb `outer` computes. */
#ifndef FTB_OUTER_PRODUCT_H
#define FTB_OUTER_PRODUCT_H

#include "core/core.h"

/* sum = the sum over items t of l(t,:)' r(t,:), a x b of FP64; or, without l, the sum of the rows of r. */
typedef struct ftb_outer_product {
    FtB_Context ctx;
    int64_t items, a, b;   /* a: 1 without l */
    const void *l, *r;     /* items x a and items x b, packed */
    FtB_Type ltype, rtype; /* compute types, which are added as FP64 */
    void *sum;             /* packed, FP64 */
    bool add;              /* sum += instead */
} ftb_outer_product;

#endif
